import { isDeepStrictEqual } from "node:util";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, resolveAccount } from "../accounts/accounts.js";
import { checkCommitment } from "../accounts/commitment.js";
import {
  type BuyChange,
  type BuyPackage,
  buyOf,
  buyState,
  endOf,
  findBuy,
  isLivePackage,
  type MediaBuy,
  revised,
  saveBuy,
  startOf,
  terminalStates,
} from "../buys/buys.js";
import { storeCreatives } from "../creatives/sync.js";
import type { BehaviourCall, BehaviourReply, BehaviourToolCall } from "../frame/call.js";
import type { Negotiated } from "../products/terms.js";
import { checkAllowed } from "./allowed.js";
import { checkStillApproved } from "./approved.js";
import { readAssigned } from "./assigned.js";
import { checkGrowth } from "./available.js";
import { checkBidding } from "./bidding.js";
import { checkDailyCaps } from "./caps.js";
import { assignedAfter, cancellationOf, type PackageUpdate, updatedPackage } from "./changed-package.js";
import { checkDates, checkMoved, movedWith } from "./dates.js";
import { checkGrown, committedTo, giveBackEnded } from "./governed.js";
import { awaited, findInstruction, instruct, instructionKey } from "./instructions.js";
import { checkInvoiced } from "./invoiced.js";
import { checkLowered } from "./lowered.js";
import { commitmentOf } from "./orders.js";
import { newPackage, type WantedPackage } from "./packages.js";
import { changedAnswer } from "./shown.js";
import type { InstructionKind } from "./telling.js";
import { checkTotal, spread } from "./total.js";
import { changedTerms, checkSupported, checkWhole, setsControl, settable } from "./whole.js";

interface Wanted {
  readonly account?: AccountRef;
  readonly media_buy_id: string;
  readonly revision?: number;
  readonly paused?: boolean;
  readonly canceled?: boolean;
  readonly cancellation_reason?: string;
  readonly start_time?: string;
  readonly end_time?: string;
  readonly packages?: readonly PackageUpdate[];
  readonly new_packages?: readonly WantedPackage[];
  readonly total_budget?: { readonly amount: number; readonly currency?: string };
  readonly budget_allocation?: unknown;
  readonly budget_cap_timezone?: unknown;
  readonly daily_budget_cap?: unknown;
  readonly reporting_webhook?: unknown;
  /** The terms that the change was agreed to by. */
  readonly accepted?: Negotiated;
  readonly [kept: string]: unknown;
}

/**
 * `update_media_buy`: all of the change or nothing.
 * @throws ToolError MEDIA_BUY_NOT_FOUND, PACKAGE_NOT_FOUND, NOT_CANCELLABLE, INVALID_STATE, CONFLICT
 */
export async function updateMediaBuy(request: Wanted, call: BehaviourToolCall): Promise<BehaviourReply> {
  const key = await instructionKey(call);
  const known = await findInstruction(call, key);
  if (known?.state === "done") {
    const now = (await findBuy(call, known.buy.media_buy_id)) ?? known.buy;
    return answered(call, now);
  }
  checkSupported(request);
  checkDailyCaps(call, { whole: request, packages: request.packages ?? [] });
  checkDailyCaps(call, { whole: {}, packages: request.new_packages ?? [], field: "new_packages" });
  const buy = await buyOf(call, request.media_buy_id, request.account);
  await checkChangeable(call, buy, request);
  const { changed, affected, done } = await changes(call, buy, request);
  // What changes nothing is no new revision, and nothing to tell the ad server of.
  if (known === undefined && isDeepStrictEqual(changed, buy)) return answered(call, buy, affected);
  if (known === undefined) {
    // What was agreed to has been approved with it.
    if (request.accepted === undefined) await checkStillApproved(call, buy, changed);
    await checkIncrease(call, buy, changed, request);
    await checkLowered(call, buy, changed, budgetField(request));
  }
  const next = known?.buy ?? revised(changed, call.time, done);
  const outcome = await instruct(call, { key, kind: kindOf(request), buy: next, base: known?.base ?? buy, known });
  if (outcome.kind === "refused") throw outcome.error;
  if (outcome.kind === "open") return unconfirmed(call, key);
  await saveBuy(call, outcome.buy);
  await giveBackEnded(call, outcome.buy);
  return answered(call, outcome.buy, affected);
}

async function checkChangeable(call: BehaviourCall, buy: MediaBuy, request: Wanted): Promise<void> {
  const state = await buyState(call, buy);
  if (terminalStates.has(state))
    throw request.canceled === true
      ? new ToolError("NOT_CANCELLABLE", `media buy ${buy.media_buy_id} is ${state}`, { field: "canceled" })
      : new ToolError("INVALID_STATE", `media buy ${buy.media_buy_id} is ${state} and changes no more`, {
          field: "media_buy_id",
          details: { current_state: state },
        });
  // What was agreed to has been allowed with it.
  if (request.accepted === undefined) await checkAllowed(call, buy, state, request);
  if (request.revision !== undefined && request.revision !== buy.revision)
    throw new ToolError("CONFLICT", `media buy ${buy.media_buy_id} is at revision ${buy.revision}`, {
      field: "revision",
    });
}

/** More money is asked for, or somebody else is to pay; less, or as much, was approved before. */
async function checkIncrease(
  call: BehaviourToolCall,
  buy: MediaBuy,
  changed: MediaBuy,
  request: Wanted,
): Promise<void> {
  const committed = await committedTo(call, buy, changed);
  if (committed === undefined) return;
  const { before, after: total } = committed;
  const rebilled = !isDeepStrictEqual(changed.terms.invoice_recipient, buy.terms.invoice_recipient);
  if (total <= before && !rebilled) return;
  const { governance_context: context = changed.terms.governance_context } = request;
  const asked = { ...changed, terms: { ...changed.terms, governance_context: context } };
  if (total > before) await checkGrown(call, asked, total);
  await checkCommitment(call, commitmentOf(call.tool, asked, total, before));
}

/** A change that is only a pause is told as one. */
function kindOf(request: Wanted): InstructionKind {
  const { canceled, paused, packages, new_packages, start_time, end_time, total_budget } = request;
  if (canceled === true) return "cancel";
  const more = [packages, new_packages, start_time, end_time, total_budget].some((one) => one !== undefined);
  return paused === undefined || more || setsControl(request) ? "change" : paused ? "pause" : "resume";
}

/** Where the release lets an update wait, it is a task; else the buyer repeats the call, and finds what became of it. */
async function unconfirmed(call: BehaviourToolCall, key: string): Promise<BehaviourReply> {
  const message = "The ad server has not confirmed the change yet.";
  if (!Object.hasOwn(call.release.tools[call.tool]?.arms ?? {}, "submitted"))
    throw new ToolError("SERVICE_UNAVAILABLE", `${message} Repeat the call under the same key.`, { retry_after: 5 });
  await awaited(call, key);
  return call.context.submitted({ message }) as BehaviourReply;
}

const answered = async (
  call: BehaviourToolCall,
  buy: MediaBuy,
  affected?: ReadonlySet<string>,
): Promise<BehaviourReply> => ({ status: "completed", data: await changedAnswer(call, buy, affected, call.tool) });

interface UpdatedBuy {
  readonly changed: MediaBuy;
  readonly affected: ReadonlySet<string>;
  readonly done: readonly Pick<BuyChange, "action" | "summary" | "package_id">[];
}

async function changes(call: BehaviourCall, buy: MediaBuy, request: Wanted): Promise<UpdatedBuy> {
  const agreed = request.accepted === undefined ? buy : { ...buy, accepted: request.accepted };
  if (request.canceled === true) return canceledBuy(call, agreed, request.cancellation_reason);
  await readAssigned(call, [...(request.packages ?? []), ...(request.new_packages ?? [])]);
  const done: UpdatedBuy["done"][number][] = [];
  const start = request.start_time === "asap" ? call.time : request.start_time;
  const end = request.end_time;
  const updated = await updatedPackages(call, buy, request, { start, end });
  done.push(...updated.done);
  let { packages } = updated;
  const total = request.total_budget;
  if (total !== undefined && request.packages === undefined && request.new_packages === undefined) {
    packages = await spread(call, buy, packages, total);
    done.push(
      ...packages
        .filter((one) => one.canceled !== true)
        .map(({ package_id }) => ({ action: "package_updated", package_id })),
    );
  }
  await checkAllGrowth(call, buy, packages, request);
  // An amendment has dates of its own.
  const { start_time: from = startOf(buy), end_time: to = endOf(buy) } = request.accepted?.commercial_terms ?? {};
  const flight = { start: start ?? from, end: end ?? to, accountId: buy.account_id };
  for (const [index, wanted] of (request.new_packages ?? []).entries()) {
    const added = await newPackage(call, wanted, flight, `new_packages[${index}]`);
    packages.push(added);
    const { account_id: accountId, media_buy_id: mediaBuyId } = buy;
    await storeCreatives(call, accountId, { uploads: wanted.creatives, packages, mediaBuyId });
    done.push({ action: "package_added", package_id: added.package_id });
  }
  if (total !== undefined) checkTotal(call, { currency: buy.currency, packages }, total);
  const { frequency_cap = buy.terms.frequency_cap } = request;
  await checkWhole(call, { packages }, { ...request, frequency_cap });
  const affected = new Set(done.flatMap(({ package_id }) => package_id ?? []));
  if (start !== undefined || end !== undefined) {
    for (const { start_time, end_time } of packages.filter(isLivePackage)) checkDates(start_time, end_time, "");
    done.push({ action: "dates_changed" });
  }
  if (request.paused !== undefined) done.push({ action: request.paused ? "paused" : "resumed" });
  const { fixed: _, ...open } = agreed;
  const set = Object.fromEntries(Object.entries(request).filter(([name]) => settable.includes(name)));
  const terms = changedTerms(buy.terms, set);
  checkBidding(call, { packages, terms });
  if (!isDeepStrictEqual(terms.invoice_recipient, buy.terms.invoice_recipient))
    await checkInvoiced(call, await resolveAccount(call, { account_id: buy.account_id }), terms.invoice_recipient);
  const changed: MediaBuy = { ...open, packages, paused: request.paused ?? buy.paused, terms };
  return { changed, affected, done: done.length > 0 ? done : [{ action: "updated" }] };
}

/** More days and more money of what is there, wherever the request says so. @throws ToolError as `checkGrowth` */
async function checkAllGrowth(
  call: BehaviourCall,
  buy: MediaBuy,
  packages: readonly BuyPackage[],
  request: Wanted,
): Promise<void> {
  const places = placesIn(request.packages ?? []);
  for (const [at, after] of packages.entries()) {
    const index = places.get(after.package_id) ?? -1;
    const own = request.packages?.[index];
    await checkGrowth(call, { before: buy.packages[at]!, after }, (name) =>
      own?.[name] === undefined ? (name === "budget" ? "total_budget" : name) : `packages[${index}].${name}`,
    );
  }
}

/** Where a request says the budget of a package. */
function budgetField({ packages = [] }: Wanted): (packageId: string) => string {
  const places = placesIn(packages);
  return (id) => (places.has(id) ? `packages[${places.get(id)}].budget` : "total_budget.amount");
}

/** Where a request speaks of each package first. */
function placesIn(wanted: readonly PackageUpdate[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [index, { package_id: id }] of wanted.entries()) if (!places.has(id)) places.set(id, index);
  return places;
}

async function updatedPackages(
  call: BehaviourCall,
  buy: MediaBuy,
  request: Wanted,
  { start, end }: { start: string | undefined; end: string | undefined },
): Promise<{ packages: BuyPackage[]; done: UpdatedBuy["done"][number][] }> {
  const wanted = request.packages ?? [];
  const known = new Set(buy.packages.map(({ package_id }) => package_id));
  const unknown = wanted.findIndex(({ package_id }) => !known.has(package_id));
  if (unknown >= 0)
    throw new ToolError("PACKAGE_NOT_FOUND", `no package ${wanted[unknown]!.package_id} in this media buy`, {
      field: `packages[${unknown}].package_id`,
    });
  const places = placesIn(wanted);
  const twice = wanted.findIndex(({ package_id: id }, at) => places.get(id) !== at);
  if (twice >= 0)
    throw new ToolError("INVALID_REQUEST", `package ${wanted[twice]!.package_id} is changed twice: say it once`, {
      field: `packages[${twice}].package_id`,
    });
  const done: UpdatedBuy["done"][number][] = [];
  const packages: BuyPackage[] = [];
  const after = assignedAfter(buy.packages, ({ package_id: id }) => wanted[places.get(id) ?? -1]);
  const lasting = { start: startOf(buy), end: endOf(buy) };
  for (const one of buy.packages) {
    const { package_id } = one;
    const index = places.get(package_id) ?? -1;
    const moved = one.canceled === true ? one : movedWith(lasting, one, { start, end });
    if (index >= 0) {
      const action = wanted[index]!.canceled === true ? "package_canceled" : "package_updated";
      done.push({ action, package_id });
    }
    const field = `packages[${index}]`;
    const updated =
      index < 0 ? moved : await updatedPackage(call, buy, moved, { wanted: wanted[index]!, field, after });
    if (updated.canceled !== true) {
      const own = wanted[index]?.start_time ?? wanted[index]?.end_time;
      checkMoved(call, one, updated, own === undefined ? "" : field);
    }
    packages.push(updated);
  }
  return { packages, done };
}

function canceledBuy(call: BehaviourCall, buy: MediaBuy, reason: string | undefined): UpdatedBuy {
  // Creatives stay in the library; only their assignment to this buy ends.
  const packages = buy.packages.map((one) => ({ ...one, creative_assignments: [] }));
  return {
    changed: { ...buy, packages, fixed: "canceled", cancellation: cancellationOf(call, reason) },
    affected: new Set(packages.map(({ package_id }) => package_id)),
    done: [{ action: "canceled", ...(reason !== undefined && { summary: reason }) }],
  };
}
