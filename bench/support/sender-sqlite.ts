/** What it costs an application on SQLite to store an event in its own transaction, beside a bare insert of the same bytes. */
import { randomUUID } from "node:crypto";
import type { Sender, SenderOptions } from "../../runtime/sender/index.js";
import type { SqliteStore } from "../../runtime/store/index.js";
import { median } from "./measure.js";
import type { Row } from "./row.js";

const ROUNDS = 5;

export interface StoringAsked {
  readonly events: number;
  open(): Promise<{ readonly store: SqliteStore; close(): Promise<void> }>;
  sender(store: SenderOptions["store"]): Promise<Sender>;
  register(sender: Sender, taskId: string): Promise<unknown>;
  readonly message: string;
}

/** @param one what a transaction does, by its number @returns transactions a second */
function transactions(store: SqliteStore, count: number, one: (at: number) => void): number {
  const { db } = store;
  const started = performance.now();
  for (let at = 0; at < count; at++) db.transaction(() => one(at))();
  return count / ((performance.now() - started) / 1_000);
}

async function round({ open, sender: senderOn, events, register, message }: StoringAsked): Promise<[number, number]> {
  const { store, close } = await open();
  const sender = await senderOn(store);
  const { db } = store;
  const tasks = Array.from({ length: events }, (_, at) => `task-${at}`);
  for (const task of tasks) await register(sender, task);
  db.exec("create table bare (id integer primary key, key text not null, body text not null)");
  const insert = db.prepare("insert into bare (key, body) values (?, ?)");
  const body = JSON.stringify({ idempotency_key: randomUUID(), task_id: "task-0", status: "working", message });
  const bare = transactions(store, events, () => insert.run(randomUUID(), body));
  const ours = transactions(store, events, (at) => {
    sender.tasks.update(tasks[at]!, { status: "working", message }, { tx: db });
  });
  await sender.stop();
  await close();
  return [ours, bare];
}

/** One event a transaction, each durable when it is committed. */
export async function storingRows(asked: StoringAsked): Promise<Row[]> {
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let done = 0; done < ROUNDS; done++) {
    const [own, plain] = await round(asked);
    ours.push(own);
    bare.push(plain);
  }
  const ratio = median(ours) / median(bare);
  return [
    {
      name: "events stored, 1 a transaction, sqlite, of a bare insert",
      value: ratio,
      unit: "x",
      target: { min: 0.5 },
      floor: { of: "an insert of the body", times: 1 / ratio },
      note: `${Math.round(median(ours))}/s against ${Math.round(median(bare))}/s`,
    },
  ];
}
