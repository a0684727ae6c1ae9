/** What an action would do, read from the arguments of the tool it is about to call. */
import { isJsonObject } from "../../contract/index.js";
import { summed } from "../frame/currency.js";
import type { Area } from "./markets.js";
import { peopleIn } from "./people.js";
import { wordsWithin } from "./vocabulary.js";

export interface ProposedAction {
  readonly purchase: string;
  readonly amount: number;
  /** Where the arguments say an amount that is none; undefined where they do not. */
  readonly unreadable: string | undefined;
  /** Of the amount; undefined where the arguments do not say. */
  readonly currency: string | undefined;
  /** Instants in unix milliseconds, where the action has them. */
  readonly start: number | undefined;
  readonly end: number | undefined;
  /** Where it is for, part by part, as far as it says. */
  readonly areas: readonly Area[];
  /** Where it will run, as whoever delivers it says. */
  readonly channels: readonly string[];
  /** Share of the budget by channel or product word. */
  readonly lines: readonly { readonly words: ReadonlySet<string>; readonly budget: number }[];
  /** Every word the arguments have: what policies are matched against. */
  readonly words: ReadonlySet<string>;
  readonly reportingFrequency: string | undefined;
  /** The parts that choose whom it reaches. */
  readonly people: readonly unknown[];
  /** Policies that the buyer says it will keep to. */
  readonly acknowledged: readonly string[];
  /** The amount is what is added to what is bound already, not the whole of it. */
  readonly incremental: boolean;
}

type Json = { readonly [key: string]: unknown };

const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const amountOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value)
    ? value
    : isJsonObject(value)
      ? amountOf(value.amount ?? value.total)
      : undefined;

/** Where something stands for money that is no amount of it: a text, a list, an object that names none, or less than nothing. */
const unreadableIn = (places: Json): string | undefined =>
  Object.entries(places).find(([, value]) => value != null && !((amountOf(value) ?? -1) >= 0))?.[0];

type Sum = Pick<ProposedAction, "amount" | "currency">;

/** @param beside the currency, where the sum has none of its own */
function sumIn(value: unknown, beside?: unknown): Sum | undefined {
  const amount = amountOf(value);
  return amount === undefined ? undefined : { amount, currency: text(isJsonObject(value) ? value.currency : beside) };
}

/** Tools whose arguments have all that is committed by them. */
const wholePurchases: ReadonlySet<string> = new Set(["create_media_buy", "buy_products"]);

/** An action costs the most that is said of it anywhere: what is said beside that would let it pass for less. */
function dearest(sums: readonly Sum[]): Sum & { readonly severalCurrencies: boolean } {
  const currencies = sums.filter(({ amount }) => amount > 0).flatMap(({ currency }) => currency?.toUpperCase() ?? []);
  const most = sums.reduce((best, one) => (one.amount > best.amount ? one : best));
  const currency = most.currency ?? sums.find((one) => one.currency !== undefined)?.currency;
  return { amount: most.amount, currency, severalCurrencies: new Set(currencies).size > 1 };
}

const instant = (value: unknown): number | undefined => {
  const at = Date.parse(text(value) ?? "");
  return Number.isNaN(at) ? undefined : at;
};

const purchases: { readonly [tool: string]: string } = {
  acquire_rights: "rights_license",
  activate_signal: "signal_activation",
  build_creative: "creative_services",
};

export function readProposal(request: {
  readonly tool?: string;
  readonly purchase_type?: string;
  readonly phase?: string;
  readonly payload?: Json;
  readonly proposal?: Json;
  readonly planned_delivery?: object;
  readonly proposed_commitment?: { readonly amount: number; readonly currency?: string };
  readonly execution_commitment?: { readonly amount: number; readonly currency?: string };
}): ProposedAction {
  const { payload = {} } = request;
  const committed = request.proposed_commitment ?? request.execution_commitment;
  const planned: Json = { ...request.planned_delivery };
  const campaign = isJsonObject(payload.campaign) ? payload.campaign : {};
  const bought = linesIn(payload);
  const agreed = isJsonObject(request.proposal) ? request.proposal.commercial_terms : undefined;
  const lines = bought.map((line) => ({ words: wordsWithin(line), budget: Math.max(0, amountOf(line.budget) ?? 0) }));
  const areas = [
    areaOf(planned.geo, "countries", "regions"),
    areaOf(payload, "countries", "regions"),
    areaOf(campaign, "countries", "regions"),
    ...[...bought, ...(isJsonObject(agreed) ? linesIn(agreed) : [])].map(({ targeting_overlay: overlay }) =>
      areaOf(overlay, "geo_countries", "geo_regions"),
    ),
  ];
  const said = sumIn(payload.total_budget) ?? sumIn(payload.budget, payload.currency);
  const asked = {
    // A total that is less than what it is the total of holds nobody back.
    amount: Math.max(said?.amount ?? 0, summed(lines.map(({ budget }) => budget))),
    currency: said === undefined ? text(payload.currency) : said.currency,
  };
  const committedSum = sumIn(committed);
  const plannedSum = sumIn(planned.total_budget, planned.currency);
  const isNew =
    request.tool === undefined ? (request.phase ?? "purchase") === "purchase" : wholePurchases.has(request.tool);
  // What is committed by a change is what it adds: its payload, and what is planned, have whole budgets.
  const sums = committedSum !== undefined && !isNew ? [committedSum] : [committedSum, plannedSum, asked];
  const { severalCurrencies, ...sum } = dearest(sums.filter((one) => one !== undefined));
  return {
    ...sum,
    unreadable: severalCurrencies
      ? "a sum in several currencies"
      : unreadableIn({
          ...{ "planned_delivery.total_budget": planned.total_budget, "payload.total_budget": payload.total_budget },
          "payload.budget": payload.budget,
          ...Object.fromEntries(bought.map(({ budget }, at) => [`the budget of line ${at + 1}`, budget])),
        }),
    purchase: request.purchase_type ?? purchases[request.tool ?? ""] ?? "media_buy",
    start: instant(planned.start_time) ?? instant(payload.start_time) ?? instant(campaign.start_date),
    end: instant(planned.end_time) ?? instant(payload.end_time) ?? instant(campaign.end_date),
    areas,
    channels: texts(planned.channels),
    lines,
    words: new Set([...wordsWithin(payload), ...wordsWithin(planned), ...lines.flatMap(({ words }) => [...words])]),
    reportingFrequency: isJsonObject(payload.reporting_webhook)
      ? text(payload.reporting_webhook.reporting_frequency)
      : undefined,
    people: peopleIn(payload, planned),
    acknowledged: acknowledgedIn(payload),
    // Packages that are added say what is added.
    incremental: committed !== undefined || (payload.new_packages !== undefined && payload.packages === undefined),
  };
}

const acknowledgedIn = ({ ext }: Json): string[] => {
  const given = isJsonObject(ext) ? ext.governance_policy_acknowledgements : undefined;
  return Array.isArray(given) ? given.filter((one): one is string => typeof one === "string") : [];
};

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];

/** What is bought or changed, by whichever tool. */
const linesIn = ({ packages, new_packages, purchases }: Json): Json[] =>
  [packages, new_packages, purchases].flatMap(objects);

const areaOf = (place: unknown, countries: string, regions: string): Area =>
  isJsonObject(place)
    ? { countries: texts(place[countries]), regions: texts(place[regions]) }
    : { countries: [], regions: [] };
