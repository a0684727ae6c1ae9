/** What a case of the store's contract is given, and the few helpers all of them use. */
import * as assert from "uvu/assert";
import type { AcceptOutcome, Arrival, Effect, InboxEvent, Store } from "../../../runtime/store/types.js";
import { arrival, NOW, newEvent } from "./events.js";

export interface CaseContext {
  readonly store: Store;
  /** Another handle on the same database. */
  open(): Promise<Store>;
  /** An effect that inserts `value` into a table of the application, made here on first use. */
  record(value: string): Effect<unknown>;
  recorded(store: Store): Promise<string[]>;
}

/** Title -> what must hold. */
export type Cases = Readonly<Record<string, (context: CaseContext) => Promise<void>>>;

export const take = (store: Store, owner: string, now = NOW, limit = 100): Promise<InboxEvent[]> =>
  store.inbox.take({ owner, until: now + 30_000, now, limit });

/** Time goes by until `now`, with the store looking at its clock all the while: no jump. */
export const goBy = (store: Store, now: number): Promise<unknown> =>
  store.database.execute(
    "insert into adbind_clock (id, mark, lag, until) values (1, $1, 0, 0) on conflict (id) do update set mark = $1".replaceAll(
      "$1",
      String(now),
    ),
  );

/** An event of a task at a second of one minute. */
export const ordered = (taskId: string, second: number, status = "working", terminal = false): Arrival => {
  const instant = `2026-04-18T14:00:${String(second).padStart(2, "0")}.000000000`;
  return arrival(newEvent({ taskId, instant, status }), { order: { instant, status, terminal, by: "sender" } });
};

export const accepted = (outcome: AcceptOutcome) => {
  assert.is(outcome.outcome, "accepted");
  return outcome as Extract<AcceptOutcome, { outcome: "accepted" }>;
};
