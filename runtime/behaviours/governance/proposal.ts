/** What an action would do, read from the arguments of the tool it is about to call. */
import { isJsonObject } from "../../contract/index.js";
import { peopleIn } from "./people.js";
import { summed } from "./summed.js";
import { wordsWithin } from "./vocabulary.js";

export interface ProposedAction {
  readonly purchase: string;
  readonly amount: number;
  /** Of the amount; undefined where the arguments do not say. */
  readonly currency: string | undefined;
  /** Instants in unix milliseconds, where the action has them. */
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly countries: readonly string[];
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

type Sum = Pick<ProposedAction, "amount" | "currency">;

/** @param beside the currency, where the sum has none of its own */
function sumIn(value: unknown, beside?: unknown): Sum | undefined {
  const amount = amountOf(value);
  return amount === undefined ? undefined : { amount, currency: text(isJsonObject(value) ? value.currency : beside) };
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
  readonly payload?: Json;
  readonly planned_delivery?: object;
  readonly proposed_commitment?: { readonly amount: number; readonly currency?: string };
  readonly execution_commitment?: { readonly amount: number; readonly currency?: string };
}): ProposedAction {
  const { payload = {} } = request;
  const committed = request.proposed_commitment ?? request.execution_commitment;
  const planned: Json = { ...request.planned_delivery };
  const campaign = isJsonObject(payload.campaign) ? payload.campaign : {};
  const lines = objects(payload.packages).map((line) => ({
    words: wordsWithin(line),
    budget: amountOf(line.budget) ?? 0,
  }));
  const geo = isJsonObject(planned.geo) ? planned.geo : {};
  const countries = [geo.countries, payload.countries, campaign.countries, ...lineCountries(payload)].flat();
  const sum = sumIn(committed) ??
    sumIn(planned.total_budget, planned.currency) ??
    sumIn(payload.total_budget) ??
    sumIn(payload.budget, payload.currency) ?? {
      amount: summed(lines.map(({ budget }) => budget)),
      currency: text(payload.currency),
    };
  return {
    ...sum,
    purchase: request.purchase_type ?? purchases[request.tool ?? ""] ?? "media_buy",
    start: instant(planned.start_time) ?? instant(payload.start_time) ?? instant(campaign.start_date),
    end: instant(planned.end_time) ?? instant(payload.end_time) ?? instant(campaign.end_date),
    countries: [...new Set(countries.filter((country): country is string => typeof country === "string"))],
    lines,
    words: new Set([...wordsWithin(payload), ...wordsWithin(planned), ...lines.flatMap(({ words }) => [...words])]),
    reportingFrequency: isJsonObject(payload.reporting_webhook)
      ? text(payload.reporting_webhook.reporting_frequency)
      : undefined,
    people: peopleIn(payload, planned),
    acknowledged: acknowledgedIn(payload),
    incremental: committed !== undefined,
  };
}

const acknowledgedIn = ({ ext }: Json): string[] => {
  const given = isJsonObject(ext) ? ext.governance_policy_acknowledgements : undefined;
  return Array.isArray(given) ? given.filter((one): one is string => typeof one === "string") : [];
};

const lineCountries = (payload: Json): unknown[] =>
  objects(payload.packages).map(({ targeting_overlay: overlay }) =>
    isJsonObject(overlay) ? (overlay.geo_countries ?? []) : [],
  );
