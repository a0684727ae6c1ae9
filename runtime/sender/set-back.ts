/** What waits for a time that a clock which was set back has made a far one. */
import type { PeriodicStep } from "../queue/periodic.js";
import { type Frequency, nextTurn } from "./calendar.js";
import type { ChannelDependencies } from "./channel.js";
import { longestWindow } from "./coalescence.js";
import { CHALLENGE_AGAIN_MS } from "./moved-configs.js";
import { FINAL_RETRY_MS } from "./reports.js";
import { inTransaction } from "./transact.js";

/** Clocks of machines that share a database differ by so much, in milliseconds. */
const SLACK_MS = 2_000;

/** An instance whose clock is a little ahead has had the next turn, and what it has told of the time before stands. */
function turnsOf(frequency: Frequency, at: number): { readonly next: number; readonly latest: number } {
  const next = nextTurn(frequency, at);
  return { next, latest: nextTurn(frequency, next) };
}

/** Looks at the beginning, since a clock may have been set back meanwhile, and when it is seen to be. */
export function setBackStep({ queue, tables, now, coalescence = {} }: ChannelDependencies): PeriodicStep {
  let before = Number.POSITIVE_INFINITY;
  return {
    name: "bring nearer what a clock that was set back has made far",
    meanwhile: "what was to be sent by the old clock waits for its time",
    async run() {
      const at = now();
      if (at < before - SLACK_MS)
        await inTransaction(queue, undefined, (tx) =>
          tables.pull(tx, at, {
            coalesced: at + longestWindow(coalescence),
            proof: at + CHALLENGE_AGAIN_MS,
            final: at + FINAL_RETRY_MS,
            turns: { hourly: turnsOf("hourly", at), daily: turnsOf("daily", at), monthly: turnsOf("monthly", at) },
          }),
        );
      before = at;
    },
  };
}
