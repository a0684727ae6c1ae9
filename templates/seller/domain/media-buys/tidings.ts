/**
 * What a buyer hears of a buy without asking: that something it needs has gone offline or is back, and that it is over.
 * All of it is stored in the transaction that makes it so.
 */
import type { JsonObject } from "adbind/contract";
import { after } from "../../effects.js";
import type { Call } from "../../handler.js";
import type { MediaBuy } from "./media-buy.js";

/** What takes a creative from the air, as an impairment names it. */
const offline = { rejected: "rejected", archived: "withdrawn" } as const;
type Offline = keyof typeof offline;

/** One kept impairment; the buyer reads it in `impairments[]`, as long as it lasts. */
export interface Impairment extends JsonObject {
  readonly impairment_id: string;
  readonly resource_type: "creative";
  readonly resource_id: string;
  readonly package_ids: readonly string[];
}

/** No report, impairment or other event is sent after the final report. */
export function tellEnd(call: Call, { media_buy_id }: MediaBuy): void {
  const { sender } = call.ctx;
  if (sender !== undefined) call.ctx.effect((tx) => after(sender.channels.close(media_buy_id, { tx })));
}

/**
 * The buy as a change of one of its creatives leaves it, and the event that says so; undefined where it changes nothing.
 * A closing event has the id of the opening one.
 */
export function afterCreative(
  call: Call,
  buy: MediaBuy,
  creative: { readonly id: string; readonly status: string; readonly reason?: string },
): MediaBuy | undefined {
  const packages = buy.packages
    .filter(
      ({ canceled, creative_assignments: all }) =>
        canceled !== true && all.some((one) => one.creative_id === creative.id),
    )
    .map(({ package_id }) => package_id);
  const open = (buy.impairments ?? []).find(({ resource_id }) => resource_id === creative.id);
  const others = (buy.impairments ?? []).filter((one) => one !== open);
  const isOffline = Object.hasOwn(offline, creative.status);
  if (isOffline ? packages.length === 0 || open !== undefined : open === undefined) return undefined;
  const impairment = isOffline ? opened(call, creative, packages) : { ...open!, resolved_at: call.now.toISOString() };
  const { sender } = call.ctx;
  if (sender !== undefined) {
    const event = { notificationId: impairment.impairment_id, eventType: "brand_safety", impairment };
    call.ctx.effect((tx) => after(sender.channels.impairment(buy.media_buy_id, event, { tx })));
  }
  return { ...buy, impairments: isOffline ? [...others, impairment] : others };
}

const opened = (
  call: Call,
  { id, status, reason }: { readonly id: string; readonly status: string; readonly reason?: string },
  packages: readonly string[],
): Impairment => ({
  impairment_id: call.id("imp"),
  resource_type: "creative",
  resource_id: id,
  package_ids: packages,
  transition: { to: offline[status as Offline] },
  reason_code: "content_rejected",
  ...(reason !== undefined && { reason }),
  observed_at: call.now.toISOString(),
});
