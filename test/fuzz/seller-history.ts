/** Histories of calls made at random: several callers and accounts, who name each other's things and repeat each other's calls. */
import { loadSide } from "../../cli/diff/load.js";
import type { Sided } from "../../generator/diff/mend.js";
import { sided } from "../../generator/diff/prove.js";
import { generated } from "../../generator/diff/survive.js";
import type { Json } from "../../generator/model/shape.js";
import { type JsonRecord, Known } from "../support/known.js";
import { type Choices, choices } from "../support/random.js";
import { faulty } from "./seller-inputs.js";
import { requestOf, served } from "./seller-requests.js";
import type { HistoryAnswer, HistoryCall, World } from "./seller-worlds.js";

export interface HistoryTool {
  readonly name: string;
  readonly of: Sided;
  readonly valid: readonly JsonRecord[];
  /** Its requests may say which account they are of. */
  readonly ofAccount: boolean;
}

const VARIANTS = 6;
const MADE_PART = 0.5;
const SCRIPTED_PART = 0.5;
const FAULTY_PART = 0.15;
const OTHERS_PART = 0.25;
const INVENTED_PART = 0.15;
const REPEATED_PART = 0.08;

const operator = "pinnacle.example";
/** Accounts that are named: of one caller two, and of two callers two of one name. */
export const accounts = ["acmeoutdoor.example", "other.example"].map((domain) => ({ brand: { domain }, operator }));

/** @param release a folder */
export async function historyTools(release: string, world: World): Promise<readonly HistoryTool[]> {
  const side = await loadSide(release);
  return side.model.tools
    .filter(({ name }) => world.offered.has(name))
    .map((tool) => {
      const of = sided(side, tool.request);
      const valid = generated(of, VARIANTS) as JsonRecord[];
      return { name: tool.name, of, valid, ofAccount: valid.some((one) => "account" in one) };
    })
    .filter(({ valid }) => valid.length > 0);
}

const image = { asset_type: "image", url: "https://x.example/i.png", width: 300, height: 250 };
const format = { agent_url: "https://seller.example/mcp", id: "display_300x250" };
const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };
const guaranteed = { product_id: "lifestyle_display_q2", pricing_option_id: "cpm_standard", budget: 50_000 };
const flight = { start_time: "asap", end_time: "2099-02-01T00:00:00Z" };

/** What a request says that takes more than its schema to be answered; `id` makes ids of the caller's own. */
type Script = (random: Choices, known: Known, id: () => string) => JsonRecord;
const scripts: Readonly<Record<string, Script>> = {
  create_media_buy: (random, _known, id) => {
    const assigned = random.chance(0.5) ? { creative_assignments: [{ creative_id: id() }] } : {};
    return {
      brand: accounts[0]!.brand,
      ...flight,
      packages: [{ ...random.of([line, line, guaranteed]), ...assigned }],
    };
  },
  update_media_buy: (random, known) => ({
    media_buy_id: random.of(known.of("media_buy_id")) ?? "none",
    ...random.of([{ paused: true }, { paused: false }, { canceled: true }, {}, { end_time: "2099-03-01T00:00:00Z" }]),
  }),
  sync_creatives: (random, known, id) => {
    const package_id = random.of(known.of("package_id"));
    const creative_id = id();
    return {
      creatives: [{ creative_id, name: random.of(["n1", "n2"]), format_id: format, assets: { image } }],
      ...(package_id !== undefined && random.chance(0.5) && { assignments: [{ creative_id, package_id }] }),
      ...(random.chance(0.2) && { dry_run: true }),
    };
  },
  sync_audiences: (random, _known, id) => {
    const person = { external_id: "u1", hashed_email: random.of(["a", "b"]).repeat(64) };
    const change = random.chance(0.2) ? { delete: true } : { add: [person] };
    return { audiences: [{ audience_id: id(), name: "A", ...change }] };
  },
  sync_event_sources: (random, _known, id) => ({
    event_sources: [{ event_source_id: id(), name: random.of(["n1", "n2"]) }],
  }),
  sync_accounts: (random) => ({ accounts: [{ ...random.of(accounts), billing: "operator" }] }),
  comply_test_controller: (random, known) => {
    const creative_id = random.of(known.of("creative_id")) ?? "1";
    const media_buy_id = random.of(known.of("media_buy_id")) ?? "none";
    return random.of([
      {
        scenario: "force_creative_status",
        params: { creative_id, status: random.of(["approved", "rejected", "archived"]) },
      },
      { scenario: "force_creative_purge", params: { creative_id } },
      { scenario: "simulate_delivery", params: { media_buy_id, impressions: 1_000, clicks: 10 } },
    ]);
  },
  create_property_list: (_random, _known, id) => ({ name: id() }),
  get_media_buys: () => ({ include_history: 10 }),
  get_media_buy_delivery: () => ({}),
  list_creatives: () => ({}),
  list_account_changes: () => ({}),
  get_account_financials: () => ({}),
};

export interface HistoryPlan {
  readonly count: number;
  readonly seed: number;
  /** Callers; of one caller each call is of one of its accounts. */
  readonly callers: readonly string[];
  /** Members of a request that say which release it is of. */
  readonly versions: readonly string[];
  /** Where a side hears what it is told, and what it may ask to be told of; nowhere where left out. */
  readonly hearing?: { readonly url: (side: string) => string; readonly types: readonly string[] };
}

/** A call, what came of it, and whose part of the history it is. */
export interface HistoryStep {
  readonly call: HistoryCall;
  readonly answer: HistoryAnswer;
  readonly side: string;
}

/** Makes the calls, and has each answered before the next one is made. */
export async function makeHistory(
  world: World,
  all: readonly HistoryTool[],
  { count, seed, callers, versions, hearing }: HistoryPlan,
): Promise<readonly HistoryStep[]> {
  const random = choices(seed);
  const byAccount = callers.length === 1;
  // What a test makes happen is of all that its caller has.
  const tools = byAccount ? all.filter(({ name, ofAccount }) => ofAccount && name !== "comply_test_controller") : all;
  const scripted = tools.filter(({ name }) => Object.hasOwn(scripts, name));
  const sides = byAccount ? accounts.map(({ brand }) => brand.domain) : callers;
  const known = new Map(sides.map((side) => [side, new Known()]));
  const steps: HistoryStep[] = [];
  for (let at = 0; at < count; at++) {
    const side = random.of(sides);
    const own = known.get(random.chance(OTHERS_PART) ? random.of(sides) : side)!;
    const tool = random.chance(SCRIPTED_PART) ? random.of(scripted) : random.of(tools);
    const account = byAccount ? accounts[sides.indexOf(side)]! : random.of(accounts);
    const id = (): string => random.of(["1", "2", "3"]);
    const old = steps.length > 0 && random.chance(REPEATED_PART) ? random.of(steps).call : undefined;
    const made = old ?? { tool: tool.name, args: argsOf(tool, { random, known: own, id, account, versions, at }) };
    const asked = byAccount ? { ...(uploadedBy(made.args, side) as JsonRecord), account } : made.args;
    const heard = old === undefined && hearing !== undefined && { url: hearing.url(side), types: hearing.types };
    const args =
      hearing === undefined
        ? asked
        : heard
          ? heardAt(asked, made.tool, { ...heard, random, at })
          : (ownPlace(asked, hearing.url(side)) as JsonRecord);
    const call: HistoryCall = { at, who: byAccount ? callers[0]! : side, tool: made.tool, args };
    const answer = await world.call(call);
    if (!answer.failed) known.get(side)!.note(answer.payload);
    steps.push({ call, answer, side });
  }
  return steps;
}

const channels = new Set(["create_media_buy", "update_media_buy"]);
const creativeEvents = ["creative.status_changed", "creative.purged"];
/** How places end at which somebody hears what he is told. */
export const HOOK = "/told";
const secret = "0123456789abcdef0123456789abcdef";

/** A call of another's that is repeated: it is heard of by who makes it. */
function ownPlace(value: Json, url: string, name = ""): Json {
  if (Array.isArray(value)) return value.map((one) => ownPlace(one, url));
  if (typeof value !== "object" || value === null) return name === "url" && String(value).endsWith(HOOK) ? url : value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, ownPlace(one, url, key)]));
}

interface Hearing {
  readonly url: string;
  readonly types: readonly string[];
  readonly random: Choices;
  readonly at: number;
}

/** A request that says where its caller wants to be told. */
function heardAt(args: JsonRecord, tool: string, { url, types, random, at }: Hearing): JsonRecord {
  if (args.idempotency_key === undefined || random.chance(0.3)) return args;
  const hook = { url, operation_id: `op_${at}` };
  const event_types = random.chance(0.7) ? creativeEvents : [random.of(types), random.of(types)];
  const notification_configs = [{ subscriber_id: random.of(["s", "t"]), url, event_types, active: true }];
  if (tool.endsWith("_notification_configs")) return { ...args, notification_configs };
  if (tool === "sync_accounts" && Array.isArray(args.accounts))
    return { ...args, accounts: args.accounts.map((one) => ({ ...(one as JsonRecord), notification_configs })) };
  const authentication = { schemes: ["HMAC-SHA256"], credentials: secret };
  const reports = { reporting_webhook: { ...hook, reporting_frequency: "daily", authentication } };
  return { ...args, push_notification_config: hook, ...(channels.has(tool) && random.chance(0.5) && reports) };
}

/** Creatives and event sources stay with the account that takes an id first: each of a caller's takes ids of its own. */
function uploadedBy(value: Json, side: string, name = ""): Json {
  if (Array.isArray(value)) return value.map((one) => uploadedBy(one, side, name));
  if (typeof value !== "object" || value === null) return value;
  const isUpload = name === "creatives" || name === "event_sources";
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const isId = isUpload && (key === "creative_id" || key === "event_source_id") && typeof one === "string";
      return [key, isId && !one.startsWith(side) ? `${side}-${one}` : uploadedBy(one, side, key)];
    }),
  );
}

interface Making {
  readonly random: Choices;
  readonly known: Known;
  readonly id: () => string;
  readonly account: JsonRecord;
  readonly versions: readonly string[];
  readonly at: number;
}

function argsOf(tool: HistoryTool, { random, known, id, account, versions, at }: Making): JsonRecord {
  const key = { idempotency_key: `00000000-0000-4000-8000-${String(at).padStart(12, "0")}` };
  const script = scripts[tool.name];
  if (script !== undefined && random.chance(0.7)) return { account, ...script(random, known, id), ...key };
  const taken = (random.chance(MADE_PART) ? requestOf(tool.of, random) : undefined) ?? random.of(tool.valid);
  const some = <T>(all: readonly T[]): T | undefined => (random.chance(INVENTED_PART) ? undefined : random.of(all));
  const {
    push_notification_config: _push,
    reporting_webhook: _report,
    ...whole
  } = known.referring(served(taken), {
    text: some,
    thing: some,
  }) as JsonRecord;
  for (const name of versions) delete whole[name];
  if ("account" in whole && random.chance(0.8)) whole.account = account;
  if ("idempotency_key" in whole) Object.assign(whole, key);
  return random.chance(FAULTY_PART) ? faulty(whole, random).request : whole;
}
