/** Breakdowns of a package that its product promises and a buyer asks for. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { AdbindError } from "../../errors.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BuyPackage, MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Breakdown, BreakdownRows } from "../ports/breakdowns.js";
import { findProduct } from "../products/products.js";
import { metricOf, type Narrowing } from "./metrics.js";
import { isPromised } from "./promised.js";
import type { DeliveryDays } from "./simulated.js";

/** Rows of a package at most, also where a buyer wants more: a town or a keyword each would be an answer without end. */
const MOST_ROWS = 1_000;
/** Dimensions of which releases give so many rows where a request does not say; of the others all. */
const SOME = new Set(["geo", "audience", "demographic", "placement"]);
const SOME_ROWS = 25;

interface AskedBreakdown {
  readonly limit?: number;
  readonly cursor?: string;
  readonly sort_by?: string;
  readonly sort_direction?: "asc" | "desc";
}

interface WantedBreakdowns {
  /** `reporting_dimensions` of the request; nothing is answered that is not in it. */
  readonly wanted: JsonObject;
  readonly buy: MediaBuy;
  readonly days: DeliveryDays;
  /** Whether the package has delivered anything. */
  readonly delivered: boolean;
  readonly only: Narrowing;
}

/**
 * A breakdown that is promised is answered. Where nobody has rows of it, it is without any, and cut off where something was
 * delivered, so that nobody takes it that no row is all there is.
 */
export async function breakdownsOf(
  call: BehaviourCall,
  { package_id, product_id }: BuyPackage,
  { wanted, buy, days, delivered, only }: WantedBreakdowns,
): Promise<JsonObject> {
  const shape = call.shapes.answer("get_media_buy_delivery");
  const has = (name: string): boolean => shape.has("media_buy_deliveries", "*", "by_package", "*", name);
  const reporting: JsonObject = (await findProduct(call, product_id))?.reporting_capabilities ?? {};
  const answered: JsonObject = {};
  for (const [dimension, said] of Object.entries(wanted)) {
    const name = `by_${dimension}`;
    const asked: AskedBreakdown & JsonObject = isJsonObject(said) ? said : {};
    if (!has(name) || !isPromised(dimension, reporting[`supports_${dimension}_breakdown`], asked)) continue;
    const known = (await rowsOf(call, buy, { dimension, asked, days }))[package_id];
    const sorted = sortedBy(dimension, known?.rows ?? [], asked);
    const limit = Math.min(asked.limit ?? (SOME.has(dimension) ? SOME_ROWS : MOST_ROWS), MOST_ROWS);
    const { rows, more, cursor } = pageOf(sorted.rows, {
      limit,
      cursor: asked.cursor,
      paged: has(`${name}_pagination`),
    });
    const truncated = more || (known == null ? delivered : known.truncated === true);
    const about = {
      ...{ truncated, suppressed: known?.suppressed === true },
      ...{ sorted_by: sorted.by, sort_direction: sorted.direction },
      ...(truncated && { pagination: { has_more: cursor !== undefined, ...(cursor !== undefined && { cursor }) } }),
    };
    answered[name] = rows.map(only);
    for (const [what, value] of Object.entries(about)) if (has(`${name}_${what}`)) answered[`${name}_${what}`] = value;
  }
  return answered;
}

/** What is known of one, by package; asked once for all packages of a buy. */
function rowsOf(
  call: BehaviourCall,
  buy: MediaBuy,
  { dimension, asked, days: { from, before, timezone } }: { dimension: string; asked: JsonObject; days: DeliveryDays },
): Promise<Breakdown> {
  const query = { dimension, asked, from, before, timezone };
  return call.once(`breakdown ${buy.media_buy_id} ${JSON.stringify(query)}`, async () => {
    const { adServer, reporting } = call.ports;
    const packageIds = buy.packages.map(({ package_id }) => package_id);
    const whose = { principal: call.principal, mediaBuyId: buy.media_buy_id, packageIds };
    const own = await reporting.breakdown?.({ ...whose, ...query });
    const said = own ?? (buy.booking === undefined ? undefined : await adServer.breakdown?.(buy.booking, query)) ?? {};
    for (const [id, one] of Object.entries(said)) if (one != null) checkRows(one, `${dimension} of package ${id}`);
    return said;
  });
}

/** @throws AdbindError `port_answer_invalid` */
function checkRows({ rows }: BreakdownRows, of: string): void {
  const isAmount = (value: unknown): boolean =>
    value === undefined || (typeof value === "number" && Number.isFinite(value) && value >= 0);
  const isRow = (row: unknown): boolean =>
    isJsonObject(row) && ["impressions", "spend", "clicks"].every((name) => isAmount(row[name]));
  if (Array.isArray(rows) && rows.every(isRow)) return;
  throw new AdbindError("port_answer_invalid", `a row of the breakdown by ${of} is none`, {
    where: "breakdown of the port reporting or adServer",
    remedy: "give rows as the release has them, with amounts of at least 0",
  });
}

/** In the order that was asked for; by what was spent, the most first, where no row has that metric. Those without it come last. */
function sortedBy(dimension: string, given: readonly JsonObject[], asked: AskedBreakdown) {
  // What ran when is a log.
  if (dimension === "spot")
    return { rows: given.toSorted((a, b) => Date.parse(`${a.aired_at}`) - Date.parse(`${b.aired_at}`)) };
  const { sort_by = "spend", sort_direction = "desc" } = asked;
  const isKnown = given.length === 0 || given.some((row) => metricOf(row, sort_by) !== undefined);
  const [by, direction] = isKnown ? [sort_by, sort_direction] : ["spend", "desc"];
  const sign = direction === "asc" ? 1 : -1;
  const rows = given.toSorted((a, b) => {
    const [x, y] = [metricOf(a, by), metricOf(b, by)];
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
    return sign * (x - y);
  });
  return { rows, by, direction };
}

interface BreakdownPage {
  readonly rows: readonly JsonObject[];
  readonly more: boolean;
  /** What the rest is asked for with; undefined where there is none, or no way to ask. */
  readonly cursor: string | undefined;
}

const CURSOR = /^[1-9]\d{0,8}$/;

/**
 * A cursor counts rows: all packages of an answer have their pages in step.
 * @param paged whether the release has cursors of this breakdown
 * @throws ToolError INVALID_REQUEST for a cursor this seller did not give
 */
function pageOf(
  rows: readonly JsonObject[],
  { limit, cursor, paged }: { readonly limit: number; readonly cursor: string | undefined; readonly paged: boolean },
): BreakdownPage {
  if (paged && cursor !== undefined && !CURSOR.test(cursor))
    throw new ToolError("INVALID_REQUEST", "the cursor is not one this seller gave", { field: "reporting_dimensions" });
  const from = paged ? Number(cursor ?? 0) : 0;
  const before = from + limit;
  const more = before < rows.length;
  return { rows: rows.slice(from, before), more, cursor: paged && more ? `${before}` : undefined };
}
