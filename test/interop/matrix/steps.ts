/** The steps of a buy, from what a seller is to what it has delivered. Each says what is wrong, or nothing. */
import type { Failure, JsonObject } from "../../../runtime/contract/index.js";
import { until } from "../../support/until.js";
import type { Line } from "./answers.js";
import { type CallerWorld, COMPACT, orders, type SellerWorld } from "./world.js";

export interface Cell {
  readonly seller: SellerWorld;
  /** Releases the seller serves, newest first. */
  readonly serves: readonly Line[];
  readonly caller: CallerWorld;
  /** Releases the caller speaks, newest first. */
  readonly speaks: readonly Line[];
}

export type Step = (cell: Cell) => Promise<string | undefined>;

type CallResult = Awaited<ReturnType<CallerWorld["buyer"]["call"]>>;

/** The newest line that both have. */
export const shared = ({ serves, speaks }: Pick<Cell, "serves" | "speaks">): Line | undefined =>
  speaks.find(({ name }) => serves.some((one) => one.name === name));

const told = ({ answer }: CallResult): string => JSON.stringify(answer).slice(0, 240);

/** A call that must come to its end in the release both have, as that release's schema says. */
async function completes(cell: Cell, tool: string, over: JsonObject = {}): Promise<string | undefined> {
  const line = shared(cell)!;
  const before = cell.seller.answered.length;
  const called = await cell.caller.buyer.call(tool, line.request(tool, over), { webhook: false });
  if (called.answer.status !== "completed") return told(called);
  const [heard, ...more] = cell.seller.answered.slice(before);
  if (heard === undefined || more.length > 0) return `${more.length + 1} calls reached the handler`;
  if (heard.release !== line.release.version) return `answered in ${heard.release}, not in ${line.release.version}`;
  return pinOf(heard.request, line);
}

/** Every request says which release it is in, where its release has a member for it. */
function pinOf(request: JsonObject, { release, name }: Line): string | undefined {
  const field = `${release.word}_version`;
  const major = request[`${release.word}_major_version`];
  const pinned = request[field] === name || (request[field] === undefined && major !== undefined);
  return pinned ? undefined : `the request is pinned to ${String(request[field] ?? major)}, not to ${name}`;
}

/** A call that cannot work: refused, with what there is, and nothing of it reached the seller's handlers. */
async function refused(cell: Cell, tool: string, over: JsonObject = {}): Promise<string | undefined> {
  const before = cell.seller.answered.length;
  const called = await cell.caller.buyer.call(tool, cell.speaks[0]!.request(tool, over));
  const [error] = called.answer.status === "failed" ? (called.answer.data as Failure).errors : [];
  if (error?.code !== "VERSION_UNSUPPORTED") return told(called);
  const there = JSON.stringify((error.details as JsonObject | undefined)?.supported_versions);
  const wanted = JSON.stringify(cell.serves.map(({ name }) => name));
  if (there !== wanted) return `it is told that there is ${there}, and there is ${wanted}`;
  return cell.seller.answered.length > before ? "the call reached the handler" : undefined;
}

const call =
  (tool: string, over: JsonObject = {}): Step =>
  (cell) =>
    shared(cell) === undefined ? refused(cell, tool, over) : completes(cell, tool, over);

const packagesOf = (product_id: string): JsonObject => ({
  packages: [{ product_id, budget: 25_000, pricing_option_id: "premium_mobile_cpm" }],
});

/** An order that is answered later, to its end. */
const later =
  (webhook: boolean): Step =>
  async (cell) => {
    const line = shared(cell);
    if (line === undefined) return refused(cell, "create_media_buy", packagesOf(orders.later));
    const { buyer, seen } = cell.caller;
    const before = seen.length;
    const called = await buyer.call("create_media_buy", line.request("create_media_buy", packagesOf(orders.later)), {
      webhook,
    });
    if (called.answer.status !== "submitted") return told(called);
    const answer = await called.waitForCompletion({ signal: AbortSignal.timeout(15_000) });
    if (answer.status !== "completed") return JSON.stringify(answer).slice(0, 240);
    if ((answer.data as JsonObject).media_buy_id !== "mb_1")
      return `no buy: ${JSON.stringify(answer.data).slice(0, 200)}`;
    if (!webhook) return undefined;
    const cameSince = () => seen.slice(before).filter(({ taskId }) => taskId === called.answer.taskId);
    // A poll may have told of the end first: what the handler was given comes a moment later.
    await until(() => cameSince().length > 0).catch(() => undefined);
    const came = cameSince();
    if (came.length === 0) return "no webhook came";
    if (came.some(({ operationId }) => operationId !== called.operationId)) return "a webhook names another operation";
    return came.every(({ release }) => release === line.release.version) ? undefined : "a webhook of another release";
  };

/** Names as the table has them, in the order they are taken. */
export const steps: Readonly<Record<string, Step>> = {
  async discover(cell) {
    const negotiation = await cell.caller.buyer.negotiate();
    const line = shared(cell);
    if (line === undefined)
      return negotiation.ok ? `they agreed on ${negotiation.negotiated.release.version}` : undefined;
    if (!negotiation.ok) return JSON.stringify(negotiation.answer).slice(0, 240);
    const { release } = negotiation.negotiated;
    return release === line.release ? undefined : `they agreed on ${release.version}, not on ${line.release.version}`;
  },
  products: call("get_products"),
  buy: call("create_media_buy", packagesOf(orders.now)),
  /** A tool that not every release has: called where both have it, and refused with what stands in for it. */
  async compact(cell) {
    const line = shared(cell);
    if (line === undefined) return refused(cell, COMPACT);
    if (Object.hasOwn(line.release.tools, COMPACT)) return completes(cell, COMPACT);
    const before = cell.seller.answered.length;
    const called = await cell.caller.buyer.call(COMPACT, {});
    const [error] = called.answer.status === "failed" ? (called.answer.data as Failure).errors : [];
    if (error?.code !== "UNSUPPORTED_FEATURE") return told(called);
    if (cell.seller.answered.length > before) return "the call reached the handler";
    const fallback = (error.details as { fallback?: { tool?: string } } | undefined)?.fallback?.tool;
    const known = cell.speaks.some(({ release }) => Object.hasOwn(release.tools, COMPACT));
    return fallback === (known ? "get_products" : undefined) ? undefined : `it is told to call ${fallback}`;
  },
  update: call("update_media_buy"),
  creative: call("sync_creatives"),
  delivery: call("get_media_buy_delivery"),
  order: later(false),
  webhooks: later(true),
  async schemas({ caller }) {
    const [first, ...more] = caller.invalid;
    return first === undefined ? undefined : `${first}${more.length > 0 ? `, and ${more.length} more` : ""}`;
  },
};
