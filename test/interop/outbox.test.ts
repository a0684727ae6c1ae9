/** An outbox in the transactions of the libraries that people have. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, printSchema } from "../../runtime/db/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { createSender } from "../../runtime/sender/index.js";
import { FakeNetwork, NOW, optionsFor } from "../sender/fixture.js";
import { push, start } from "../sender/sender-suite.js";
import { sharedPostgres } from "../support/postgres.js";
import type { Library } from "./outbox-library.js";

const folder = path.join(import.meta.dirname, "outbox");
const installed = existsSync(path.join(folder, "node_modules", ".adbind-ready"));

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "taken",
    (error: unknown) => (error instanceof AdbindError ? error.code : error),
  );

async function open(url: string) {
  const database = await openPostgres({ url });
  const clock = { at: NOW };
  const sender = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store: { database } });
  return { database, sender };
}

type Opened = Awaited<ReturnType<typeof open>>;

const written = async ({ database }: Opened): Promise<string[]> =>
  (await database.query((q) => q.rows<{ value: string }>("select value from application order by 1"))).map(
    ({ value }) => value,
  );

async function bothOrNeither({ name, transaction, write }: Library, opened: Opened): Promise<void> {
  const { sender } = opened;
  const id = (what: string): string => `${name} ${what}`;
  const before = (await sender.outbox.counts()).waiting;
  const order = (what: string, fails: boolean) =>
    transaction(async (tx) => {
      await write(tx as never, id(what));
      await sender.tasks.register(start({ taskId: id(what) }), { push }, { tx });
      const { keys } = await sender.tasks.update(id(what), { status: "working" }, { tx, dedupKey: "once" });
      const again = await sender.tasks.update(id(what), { status: "working" }, { tx, dedupKey: "once" });
      assert.equal(again, { keys });
      if (fails) throw new Error("application");
    });
  await order("kept", false);
  assert.is(await order("undone", true).catch((error: Error) => error.message), "application", name);
  assert.is((await sender.outbox.counts()).waiting, before + 1, name);
  assert.ok((await written(opened)).includes(id("kept")), name);
  assert.not.ok((await written(opened)).includes(id("undone")), name);
  // Before anything was written, too: a savepoint tells what no written row does.
  await transaction(async (tx) => void (await sender.tasks.update(id("kept"), { status: "canceled" }, { tx })));
  assert.is((await sender.outbox.counts()).waiting, before + 2, name);
}

if (installed) {
  test("both or neither, in the transactions of every library; what is none is refused", async () => {
    const postgres = await sharedPostgres();
    const url = await postgres.database();
    const opened = await open(url);
    await opened.database.query((q) => q.run("create table application (value text)"));
    const { libraries } = (await import(path.join(folder, "libraries.ts"))) as {
      libraries(url: string): Promise<Library[]>;
    };
    const all = await libraries(url);
    for (const library of all) {
      await bothOrNeither(library, opened);
      const { waiting } = await opened.sender.outbox.counts();
      for (const [what, tx] of await library.mistakes()) {
        const refused = await codeOf(Promise.resolve(opened.sender.tasks.update("any", { status: "working" }, { tx })));
        assert.is(refused, "transaction_invalid", `${library.name}: ${what}`);
      }
      assert.is((await opened.sender.outbox.counts()).waiting, waiting, library.name);
    }
    for (const { close } of all) await close();
    await opened.sender.stop();
    await opened.database.close();
    await postgres.stop();
  });

  test("a transaction of PGlite: refused where its database has our schema and is not the sender's", async () => {
    const { PGlite } = await import(path.join(folder, "node_modules/@electric-sql/pglite/dist/index.js"));
    const postgres = await sharedPostgres();
    const { sender, database } = await open(await postgres.database());
    // In the same process it has no URL: a sender that asks nobody where it is stands for one whose store it is.
    const anywhere = Object.create(database, { join: { value: (tx: unknown) => database.join(tx, true) } });
    const its = await createSender({
      ...optionsFor({ at: NOW }, new FakeNetwork({ at: NOW })),
      store: { database: anywhere },
    });
    const lite = new PGlite();
    await lite.exec(printSchema("postgres"));
    const count = async (): Promise<number> =>
      (await lite.query("select count(*)::int as n from adbind_jobs")).rows[0].n;
    const transaction = (of: typeof sender): Promise<void> =>
      lite.transaction(async (tx: object) => {
        await of.tasks.register(start(), { push }, { tx });
        await of.tasks.update("task-1", { status: "working" }, { tx });
      });
    assert.is(await codeOf(transaction(sender)), "transaction_invalid");
    assert.is(await count(), 0);
    await transaction(its);
    assert.is(await count(), 1);
    for (const one of [sender, its]) {
      const refused = await codeOf(Promise.resolve(one.tasks.update("task-1", { status: "canceled" }, { tx: lite })));
      assert.is(refused, "transaction_invalid");
    }
    assert.is(await count(), 1);
    await lite.close();
    await its.stop();
    await sender.stop();
    await database.close();
    await postgres.stop();
  });
} else
  test("the database libraries are not installed", () => {
    console.log("skipped: the database libraries of test/interop/outbox are not installed; ./run test installs them");
  });

test.run();
