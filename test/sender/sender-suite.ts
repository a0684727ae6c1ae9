/** What the cases of a sender start from, on every store. */
import { suite } from "uvu";
import type { Sender, SenderOptions, TaskStart } from "../../runtime/sender/index.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";

export interface SenderCase<Tx> {
  readonly name: string;
  open(options: Omit<SenderOptions<Tx>, "store">): Promise<Sender<Tx>>;
  reset(): Promise<void>;
  /** Runs `work` in a transaction of the application's own, and rolls it back when it throws. */
  transaction(work: (tx: Tx) => unknown): Promise<void>;
}

export interface Context<Tx> {
  clock: { at: number };
  network: FakeNetwork;
  sender: Sender<Tx>;
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

/** A fresh store and sender for each test. */
export function suiteOf<Tx>(of: SenderCase<Tx>, what: string): ReturnType<typeof suite<Context<Tx>>> {
  const test = suite<Context<Tx>>(`${of.name}: ${what}`);
  test.before.each(async (context) => {
    await of.reset();
    context.clock = { at: NOW };
    context.network = new FakeNetwork(context.clock);
    context.sender = await of.open(optionsFor(context.clock, context.network) as never);
  });
  test.after.each(async ({ sender }) => {
    await sender.stop();
  });
  return test;
}

export const drained = async <Tx>(sender: Sender<Tx>): Promise<boolean> => (await sender.outbox.counts()).waiting === 0;
