/** Missed webhooks are recovered by reading state, before anything irreversible (docs/protocol/webhooks.md#recovery). */
import type { Answer, AnyArms, JsonObject, Recovery, Release } from "../contract/index.js";
import { isJsonObject, list, member } from "../extract/json-object.js";
import type { BuyerCallDependencies } from "./call-dependencies.js";
import { failedHere } from "./exchange.js";
import { localError } from "./fault.js";
import { badBuyerOption } from "./settings.js";
import type { CallOptions, CallResult } from "./types.js";

/** Pages read at most: an agent that never ends its list must not hold the caller. */
const MAX_PAGES = 100;

interface OfBuys {
  readonly media_buy_ids: readonly string[];
  readonly account?: JsonObject;
}

/** What is to be read again. */
export type Resource =
  /** After a missed `impairment`. */
  | ({ readonly kind: "impairments" } & OfBuys)
  /** After a missed delivery report. */
  | ({
      readonly kind: "delivery";
      /** Used where the agent declares it; without, date ranges and days are what there is. */
      readonly granularity?: string;
      /** ISO 8601. */
      readonly start_date?: string;
      readonly end_date?: string;
    } & OfBuys)
  /** After any other event about a state: the reading tool of its resource. */
  | { readonly kind: "state"; readonly tool: string; readonly request: JsonObject };

/** A media buy's health and what impairs it, as it was read. */
export interface Impaired {
  readonly media_buy_id: string;
  /** `ok` or `impaired`, as the agent says it. */
  readonly health: string | undefined;
  readonly impairments: readonly JsonObject[];
}

/** The state of a resource, read page by page, or why it cannot be had. */
export type Reconciled<K extends Resource["kind"] = Resource["kind"]> =
  | {
      readonly ok: true;
      /** The payload of each page, in order. */
      readonly pages: readonly JsonObject[];
      /** Buys the agent told of, with what impairs them; empty for other kinds. */
      readonly buys: K extends "impairments" ? readonly Impaired[] : readonly never[];
      /** Asked for and not told of: their state is not known. */
      readonly missing: readonly string[];
      /** `time_granularity` that was asked for; null where the agent declares no such. */
      readonly granularity: string | null;
    }
  | { readonly ok: false; readonly answer: Answer<AnyArms>; readonly recovery: Recovery | undefined };

/** Reads the state of a resource in place of webhooks that were missed. */
export type Reconciler = <const T extends Resource>(
  resource: T,
  options?: Pick<CallOptions, "signal">,
) => Promise<Reconciled<T["kind"]>>;

type Call = (tool: string, request: JsonObject, options?: CallOptions) => Promise<CallResult<AnyArms>>;

/** Granularities declared: by the agent as a whole, wherever its release puts them. */
function declaredGranularities(capabilities: JsonObject | null): readonly string[] {
  const holders = [capabilities, member(capabilities, "media_buy")];
  return holders
    .map((holder) => member(holder, "reporting_capabilities"))
    .flatMap((reporting) => list(member(reporting, "windowed_pull_granularities")))
    .filter((one): one is string => typeof one === "string");
}

export function reconciler({ settings, negotiation }: BuyerCallDependencies, call: Call): Reconciler {
  const reading = (name: string): void => {
    const tool = settings.releases.find(({ tools }: Release) => Object.hasOwn(tools, name))?.tools[name];
    if (tool === undefined) throw badBuyerOption("resource.tool", `give a tool of the release; ${name} is none`);
    if (tool.mutating) throw badBuyerOption("resource.tool", `give a tool that reads; ${name} changes state`);
  };
  const reconcile = async (resource: Resource, options: Pick<CallOptions, "signal"> = {}): Promise<Reconciled> => {
    const ids = resource.kind === "state" ? [] : resource.media_buy_ids;
    if (resource.kind === "state") reading(resource.tool);
    const result = await negotiation.get(options.signal);
    if (!result.ok) return { ok: false, answer: result.failure.answer, recovery: result.failure.recovery };
    const wanted = resource.kind === "delivery" ? resource.granularity : undefined;
    const declared = declaredGranularities(result.pinned.capabilities);
    const granularity = wanted !== undefined && declared.includes(wanted) ? wanted : null;
    const { tool, request } = readingOf(resource, granularity);
    const read = await readPages(call, tool, request, options);
    if (!read.ok) return read;
    const field = tool === "get_media_buys" ? "media_buys" : "media_buy_deliveries";
    const told = read.pages.flatMap((page) => list(page[field])).filter(isJsonObject);
    const known = new Set(told.map((one) => one.media_buy_id));
    return {
      ok: true,
      pages: read.pages,
      buys: resource.kind === "impairments" ? told.map(impaired) : [],
      missing: ids.filter((id) => !known.has(id)),
      granularity,
    };
  };
  return reconcile as Reconciler;
}

function readingOf(resource: Resource, granularity: string | null): { tool: string; request: JsonObject } {
  if (resource.kind === "state") return { tool: resource.tool, request: resource.request };
  const { media_buy_ids, account } = resource;
  const of = { media_buy_ids: [...media_buy_ids], ...(account !== undefined && { account }) };
  if (resource.kind === "impairments") return { tool: "get_media_buys", request: of };
  const { start_date, end_date } = resource;
  return {
    tool: "get_media_buy_delivery",
    request: {
      ...of,
      ...(start_date !== undefined && { start_date }),
      ...(end_date !== undefined && { end_date }),
      ...(granularity !== null && { time_granularity: granularity }),
    },
  };
}

const impaired = (buy: JsonObject): Impaired => ({
  media_buy_id: String(buy.media_buy_id),
  health: typeof buy.health === "string" ? buy.health : undefined,
  impairments: list(buy.impairments).filter(isJsonObject),
});

type Pages =
  | { readonly ok: true; readonly pages: readonly JsonObject[] }
  | { readonly ok: false; readonly answer: Answer<AnyArms>; readonly recovery: Recovery | undefined };

/** Every page of a reading tool: half a state would be taken for all of it. */
async function readPages(
  call: Call,
  tool: string,
  request: JsonObject,
  options: Pick<CallOptions, "signal">,
): Promise<Pages> {
  const pages: JsonObject[] = [];
  const given = new Set<unknown>();
  let cursor: unknown;
  for (;;) {
    const asked = isJsonObject(request.pagination) ? request.pagination : {};
    const paged = cursor === undefined ? request : { ...request, pagination: { ...asked, cursor } };
    const called = await call(tool, paged, options);
    const { status, data } = called.answer;
    if (status !== "completed") return { ok: false, answer: called.answer, recovery: called.recovery };
    pages.push(data as JsonObject);
    const next = member(data, "pagination");
    if (member(next, "has_more") !== true) return { ok: true, pages };
    cursor = member(next, "cursor");
    if (typeof cursor !== "string" || cursor === "")
      return unended("it says that there is more, and not how to ask for it");
    if (given.has(cursor)) return unended("it goes round in a circle");
    given.add(cursor);
    if (pages.length === MAX_PAGES) return unended(`it has more than ${MAX_PAGES} pages`);
  }
}

function unended(why: string): Pages {
  const { answer, recovery } = failedHere(
    localError("INVALID_ANSWER", `The state could not be read whole: ${why}`, "correctable"),
  );
  return { ok: false, answer, recovery };
}
