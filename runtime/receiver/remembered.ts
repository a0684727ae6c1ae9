/** How long the keys of a sender are remembered, and how many (docs/protocol/eras.md#webhook-lines). */
import type { Release } from "../contract/index.js";
import type { ReceiverSettings, SenderConfig } from "./types.js";

/** Shortest dedup window without telling senders, in seconds (docs/protocol/webhooks.md#limits). */
export const MIN_WINDOW_SECONDS = 86_400;
/** Longest time that a sender may declare to send an event again for, in seconds. */
const LONGEST_HORIZON_SECONDS = 604_800;
/** Keys of one sender in a day: at about 60 bytes each, 60 MB of disk. */
const SENDER_CAP = 1_000_000;

/** What is remembered of one sender's keys. */
export interface RememberedKeys {
  readonly windowSeconds: number;
  readonly senderCap: number;
}

/** Is this how long a sender may say that it sends an event again for? Left out, it is. */
export const isHorizon = (seconds: number | undefined): boolean =>
  seconds === undefined ||
  (Number.isSafeInteger(seconds) && seconds >= MIN_WINDOW_SECONDS && seconds <= LONGEST_HORIZON_SECONDS);

/**
 * Makes the function that knows it. An event that was taken, and whose answer was lost, comes again for as long as its sender tries:
 * forgotten before, it would be applied twice.
 */
export function rememberedKeys<Tx>({
  dedupWindowSeconds: given,
  senderCap,
}: Pick<ReceiverSettings<Tx>, "dedupWindowSeconds" | "senderCap">) {
  const least = given ?? MIN_WINDOW_SECONDS;
  return (sender: SenderConfig | undefined, { facts }: Pick<Release, "facts">): RememberedKeys => {
    const unsaid = given === undefined && facts.signing.retryHorizon.value ? LONGEST_HORIZON_SECONDS : 0;
    const windowSeconds = Math.max(least, sender?.retryHorizonSeconds ?? unsaid);
    const days = Math.max(1, windowSeconds / MIN_WINDOW_SECONDS);
    return { windowSeconds, senderCap: senderCap ?? Math.ceil(SENDER_CAP * days) };
  };
}
