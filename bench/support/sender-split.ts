/** What a database costs that is one of several: whoever writes asks first whether it has the principal. */
import type { Sender } from "../../runtime/sender/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { shardedByPrincipal } from "../../runtime/store/split/principals.js";
import { median } from "./measure.js";
import type { Row } from "./row.js";
import { type SenderEngine, senderOptions } from "./sender-engines.js";

/** Changes asked for at a time, each of a task and a principal of its own. */
const TOGETHER = 64;
const ROUNDS = 7;
/** Left out: what is compiled and cached then. */
const WARM = 2;
/** Time of a round, in changes of each task. */
const CHANGES = 40;

interface Side {
  readonly sender: Sender;
  close(): Promise<void>;
}

const url = "https://buyer.example/hooks/a";
const principalOf = (at: number): string => `https://buyer-${at}.example/agent`;

async function filled(sender: Sender): Promise<Sender> {
  for (let at = 0; at < TOGETHER; at += 1) {
    const start = {
      taskId: `task-${at}`,
      tool: "create_media_buy",
      status: "submitted",
      principal: principalOf(at),
    } as const;
    await sender.tasks.register(start, { push: { url, operation_id: `op-${at}` } });
  }
  return sender;
}

async function alone(engine: SenderEngine): Promise<Side> {
  const { store, close } = await engine.store();
  const sender = await filled(await createSender({ ...senderOptions(), store }));
  return { sender, close: () => sender.stop().then(close) };
}

/** A set of one database: what is added is the question, and no other database. */
async function split(engine: SenderEngine): Promise<Side> {
  const { store } = await engine.store();
  const several = await shardedByPrincipal([{ name: "a", database: store.database }]);
  const sender = await filled(await createSender({ ...senderOptions(), store: several }));
  return { sender, close: () => sender.stop().then(() => several.close()) };
}

/** @returns changes a second */
async function round({ sender }: Side): Promise<number> {
  const before = performance.now();
  await Promise.all(
    Array.from({ length: TOGETHER }, async (_, at) => {
      const change = { status: "working", message: "x".repeat(200) } as const;
      for (let n = 0; n < CHANGES; n += 1)
        await sender.tasks.update(`task-${at}`, change, { principal: principalOf(at) });
    }),
  );
  return (TOGETHER * CHANGES * 1000) / (performance.now() - before);
}

/** Changes of tasks stored a second on one of several databases, of those on one that is alone, turn by turn. */
export async function splitRows(engine: SenderEngine): Promise<Row[]> {
  const [plain, fenced] = [await alone(engine), await split(engine)];
  const rates: [number, number][] = [];
  for (let at = -WARM; at < ROUNDS; at += 1) {
    const pair: [number, number] = [await round(plain), await round(fenced)];
    if (at >= 0) rates.push(pair);
  }
  await plain.close();
  await fenced.close();
  const value = median(rates.map(([one, other]) => other / one));
  const [first, second] = [0, 1].map((side) => Math.round(median(rates.map((pair) => pair[side]!))));
  return [
    {
      name: `changes of tasks stored by a database of a split, of one that is alone (${engine.name})`,
      value,
      unit: "x",
      target: { min: engine.name === "sqlite" ? 0.6 : 0.8 },
      floor: { of: "a store that is alone", times: 1 / value },
      note: `${second} and ${first} a second, ${TOGETHER} at a time`,
    },
  ];
}
