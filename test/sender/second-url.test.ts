/** A second URL, to be notified by, whose session finds other tables than the store's, or may not use them. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createSender } from "../../runtime/sender/index.js";
import { openPostgresStore } from "../../runtime/store/index.js";
import { appRole } from "../support/app-role.js";
import { runStatements, sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";
import { push, start } from "./sender-suite.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

const working = { status: "working" } as const;
const inSchema = (url: string, schema: string): string =>
  `${url}&options=${encodeURIComponent(`-c search_path=${schema}`)}`;

/** Has a sender notified by another URL, and sees how it gets on. @param theirs where another sender's event waits, at the same endpoint */
async function notifiedBy(url: string, listenUrl: string, theirs: string): Promise<void> {
  const network = new FakeNetwork({ at: NOW });
  const faults: string[] = [];
  const fault = (given: unknown, message: string) => faults.push(`${message} ${(given as { err?: unknown }).err}`);
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: fault } as never;
  const others = await openPostgresStore({ url: theirs, connections: 2 });
  const store = await openPostgresStore({ url, listenUrl, connections: 2 });
  const idle = await createSender({ ...optionsFor({ at: NOW }, network), store: others });
  const sender = await createSender({ ...optionsFor({ at: NOW }, network), store, logger });
  try {
    await idle.tasks.register(start({ taskId: "theirs" }), { push });
    await sender.tasks.register(start({ taskId: "ours" }), { push });
    await sender.tasks.update("ours", working);
    sender.start();
    await until(() => store.database.listening && network.sent.length === 1);
    await idle.tasks.update("theirs", working);
    for (let n = 2; n <= 5; n++) {
      await sender.tasks.update("ours", working);
      await until(() => network.sent.filter(({ body }) => body.task_id === "ours").length === n);
    }
    assert.equal([...new Set(network.sent.map(({ body }) => body.task_id))], ["ours"]);
    assert.equal(faults, []);
    assert.is((await idle.outbox.counts()).waiting, 1);
  } finally {
    await sender.stop();
    for (const one of [store, others]) await one.close();
  }
}

test("who is notified by a URL that finds another schema of the database sends nothing of that one's", async () => {
  for (const [own, other] of [
    ["public", "tenant"],
    ["tenant", "public"],
  ] as const) {
    const url = await postgres.database();
    await runStatements(url, "create schema tenant");
    const theirs = inSchema(url, other);
    await notifiedBy(inSchema(url, own), theirs, theirs);
  }
});

test("who is notified by a URL of another database sends nothing of that one's", async () => {
  const theirs = await postgres.database();
  await notifiedBy(await postgres.database(), theirs, theirs);
});

test("who is notified by a URL whose role may do nothing but listen leases by the first one", async () => {
  const url = await postgres.database();
  const { role, own, drop } = await appRole(url);
  await runStatements(url, `revoke all on all tables in schema public from ${role}`);
  try {
    await notifiedBy(url, own, await postgres.database());
  } finally {
    await drop();
  }
});

test.run();
