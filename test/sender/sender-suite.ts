/** What the cases of a sender start from, on every store. */
import { suite } from "uvu";
import type { OpenQueue } from "../../runtime/queue/types.js";
import type { OutboxCounts, Sender, SenderOptions, TaskStart } from "../../runtime/sender/index.js";
import { Looks } from "../support/looks.js";
import { until } from "../support/until.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";

export interface SenderCase {
  readonly name: string;
  /** What hands events out, where the database does not. */
  readonly queue?: OpenQueue | undefined;
  open(options: Omit<SenderOptions, "store">): Promise<Sender>;
  reset(): Promise<void>;
  /** Runs `work` in a transaction of the application's own, and rolls it back when it throws. */
  transaction(work: (tx: object) => unknown): Promise<void>;
  /** Has `work` fill the tables, then runs a statement on them by hand. */
  corrupt(statement: string, work: () => Promise<void>): Promise<void>;
  /** Everything the store has written, as it would be stolen: its files, or all rows of all tables. */
  bytes(): Promise<Buffer>;
  /** Runs a statement by hand, and answers its rows. */
  rows(statement: string): Promise<Record<string, unknown>[]>;
}

export interface Context {
  clock: { at: number };
  network: FakeNetwork;
  sender: Sender;
  /** Of the sender's worker, and of those it is opened with anew. */
  looks: Looks;
}

export const start = (over: Partial<TaskStart> = {}): TaskStart => ({
  taskId: "task-1",
  tool: "create_media_buy",
  status: "submitted",
  principal: "buyer-1",
  ...over,
});
export const HOOK = "https://buyer.example/hooks/a";
export const push = { url: HOOK, operation_id: "op-1" };
export const secret = "0123456789abcdef0123456789ABCDEFghij";
/** Milliseconds. */
export const HOUR = 3_600_000;

export const ownOptions = (
  of: SenderCase,
  { clock, network, looks }: Context,
  over: Partial<SenderOptions> = {},
): Omit<SenderOptions, "store"> => ({ ...optionsFor(clock, network), queue: looks.opening(of.queue), ...over });

/** A fresh store and sender for each test. */
export function suiteOf(of: SenderCase, what: string): ReturnType<typeof suite<Context>> {
  const test = suite<Context>(`${of.name}: ${what}`);
  test.before.each(async (context) => {
    await of.reset();
    context.clock = { at: NOW };
    context.network = new FakeNetwork(context.clock);
    context.looks = new Looks();
    context.sender = await of.open(ownOptions(of, context));
  });
  test.after.each(async ({ sender }) => {
    await sender.stop();
  });
  return test;
}

/** What an outbox holds: nothing but what is given. */
export const holds = (over: Partial<OutboxCounts> = {}): OutboxCounts => ({
  waiting: 0,
  dead: 0,
  expired: 0,
  refused: 0,
  ...over,
});

export const drained = async (sender: Sender): Promise<boolean> => (await sender.outbox.counts()).waiting === 0;

/** Waits until nothing is being sent: a clock that leaps ends the leases of what is, and it would be sent again. */
export const noneOut = (sender: Sender): Promise<void> =>
  until(async () => (await sender.outbox.list()).every(({ state }) => state !== "out"));

/** Has the clock leap, and the sender's worker find what it lets begin, and end it. */
export async function leap({ clock, sender, looks }: Context, ms: number): Promise<void> {
  await noneOut(sender);
  clock.at += ms;
  await looks.passed();
  await noneOut(sender);
}

/** Another sender on the same store instead of the context's. */
export const reopened = async (of: SenderCase, context: Context, over: Partial<SenderOptions>): Promise<Sender> => {
  await context.sender.stop();
  context.sender = await of.open(ownOptions(of, context, over));
  return context.sender;
};
/** Why a registration was refused; empty where it was not. */
export const codeIn = (result: { ok: boolean; error?: { code: string } }): string =>
  result.ok ? "" : result.error!.code;
