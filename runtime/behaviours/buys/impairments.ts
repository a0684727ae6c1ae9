/** A creative that goes off the air holds its packages back: the buys say so, and their buyers hear of it. */
import type { BehaviourCall } from "../frame/call.js";
import { written } from "../frame/effects.js";
import { type Creative, findCreative, keepCreative } from "../library/creatives.js";
import { type BuyImpairment, buyState, buysOf, type MediaBuy, saveBuy, terminalStates } from "./buys.js";

/** What takes a creative from the air, as an impairment names it. */
const offline: Readonly<Partial<Record<Creative["status"], string>>> = { rejected: "rejected", archived: "withdrawn" };

/** Keeps a creative; the buys it is in are told when its state has changed. */
export async function saveCreative(call: BehaviourCall, creative: Creative): Promise<void> {
  const before = (await findCreative(call, creative.creative_id))?.status;
  keepCreative(call, creative);
  if (before === undefined || before === creative.status) return;
  for (const buy of await buysOf(call)) {
    if (terminalStates.has(await buyState(call, buy))) continue;
    const changed = afterCreative(call, buy, creative);
    if (changed !== undefined) await saveBuy(call, changed);
  }
}

/**
 * The buy as a change of one of its creatives leaves it, and the event that says so; undefined where it changes nothing.
 * A closing event has the id of the opening one. All of it is stored in the transaction that makes it so.
 */
function afterCreative(call: BehaviourCall, buy: MediaBuy, creative: Creative): MediaBuy | undefined {
  const { creative_id, status } = creative;
  const packages = buy.packages
    .filter(
      ({ canceled, creative_assignments: all }) =>
        canceled !== true && all.some((one) => one.creative_id === creative_id),
    )
    .map(({ package_id }) => package_id);
  const open = (buy.impairments ?? []).find(({ resource_id }) => resource_id === creative_id);
  const others = (buy.impairments ?? []).filter((one) => one !== open);
  const isOffline = offline[status] !== undefined;
  if (isOffline ? packages.length === 0 || open !== undefined : open === undefined) return undefined;
  const impairment = isOffline ? opened(call, creative, packages) : { ...open!, resolved_at: call.time };
  const { sender } = call.ctx;
  if (sender !== undefined) {
    const event = { notificationId: impairment.impairment_id, eventType: "brand_safety", impairment };
    call.ctx.effect((tx) => written(sender.channels.impairment(buy.media_buy_id, event, { tx })));
  }
  return { ...buy, impairments: isOffline ? [...others, impairment] : others };
}

const opened = (
  call: BehaviourCall,
  { creative_id, status, rejection_reason: reason }: Creative,
  packages: readonly string[],
): BuyImpairment => ({
  impairment_id: call.id("imp"),
  resource_type: "creative",
  resource_id: creative_id,
  package_ids: packages,
  transition: { to: offline[status] },
  reason_code: "content_rejected",
  ...(reason !== undefined && { reason }),
  observed_at: call.time,
});
