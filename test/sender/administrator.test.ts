/** What an administrator of PostgreSQL does while a sender runs: it is told, and it goes on by itself when that is undone. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { sharedPostgres } from "../support/postgres.js";
import { thrownBy } from "../support/thrown.js";
import { until } from "../support/until.js";
import { administered } from "./administered.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";
import { push, start } from "./sender-suite.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());
const opened = () => administered(postgres);

const working = { status: "working" } as const;

test("a right that is revoked meanwhile is told with its place and what to grant; what waits goes once it is granted", async () => {
  const { role, sender, network, lines, by, close } = await opened();
  try {
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", working);
    await by(`revoke insert, update, delete on adbind_jobs from ${role}`);
    sender.start();
    const { code, where, message, remedy } = await thrownBy(async () => sender.tasks.update("task-1", working));
    assert.is(code, "database_unreachable");
    assert.match(message, "permission denied for table adbind_jobs");
    assert.match(where ?? "", "127.0.0.1");
    assert.match(remedy ?? "", "grant the role");
    await until(() => lines.some(({ text }) => /permission denied for table adbind_jobs/.test(text)));
    await by(`grant insert, update, delete on adbind_jobs to ${role}`);
    await until(() => network.sent.length === 1);
    await until(async () => (await sender.outbox.counts()).waiting === 0);
  } finally {
    await close();
  }
});

const ending = (role: string): string =>
  `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`;

for (const [what, hurt, mend, told] of [
  [
    "a password that was changed",
    (r: string) => `alter role ${r} password 'new'`,
    (r: string) => `alter role ${r} password 'app'`,
    "the password was refused",
  ],
  [
    "a login that was taken away",
    (r: string) => `alter role ${r} nologin`,
    (r: string) => `alter role ${r} login`,
    "the login was refused",
  ],
  [
    "connections that others took",
    (r: string) => `alter role ${r} connection limit 0`,
    (r: string) => `alter role ${r} connection limit -1`,
    "too many connections",
  ],
  [
    "a search_path that no longer finds the tables",
    (r: string) => `alter role ${r} set search_path = nowhere`,
    (r: string) => `alter role ${r} reset search_path`,
    "tables are not found",
  ],
] as const)
  test(`${what} while connections are made anew is told as it is at opening, and it goes on by itself`, async () => {
    const { role, sender, network, lines, by, close } = await opened();
    try {
      await sender.tasks.register(start(), { push });
      await sender.tasks.update("task-1", working);
      await by(hurt(role), ending(role));
      sender.start();
      await until(async () =>
        (await thrownBy(async () => sender.tasks.update("task-1", working))).message.includes(told),
      );
      const { code, where, remedy } = await thrownBy(async () => sender.tasks.update("task-1", working));
      assert.is(code, "database_unreachable");
      assert.match(where ?? "", "127.0.0.1");
      assert.ok(remedy);
      await until(() => lines.some(({ text }) => text.includes(told)));
      // What was connected meanwhile has the role's settings of then.
      await by(mend(role), ending(role));
      await until(() => network.sent.length === 1);
    } finally {
      await close();
    }
  });

test("a connection that an administrator ended in the middle is told of with its place, and that a commit may be stored", async () => {
  const { database, close } = await opened();
  try {
    const { code, where, message, remedy } = await thrownBy(() =>
      database.transaction(async (tx) => {
        await tx.query("select pg_terminate_backend(pg_backend_pid())");
      }),
    );
    assert.is(code, "database_unreachable");
    assert.match(where ?? "", "127.0.0.1");
    assert.match(message, "its connection was ended (terminating connection due to administrator command)");
    assert.match(remedy ?? "", "what was being committed may be stored");
    // What the application does in a transaction of ours is its own.
    const theirs: unknown = await database
      .transaction((tx) => tx.query("select * from orders"))
      .catch((error) => error);
    assert.is((theirs as { code?: unknown }).code, "42P01");
  } finally {
    await close();
  }
});

test("an application's transaction that the server ended is told of with its place, and nothing of it is stored", async () => {
  const { url, sender, database, close } = await opened();
  try {
    await sender.tasks.register(start(), { push });
    for (const setting of ["idle_in_transaction_session_timeout", "transaction_timeout"]) {
      for (const first of [true, false]) {
        const application = new pg.Client(url);
        application.on("error", () => undefined);
        await application.connect();
        await application.query(`set ${setting} = '100ms'`);
        await application.query("begin");
        if (!first) await sender.tasks.update("task-1", working, { tx: application });
        await new Promise((resolve) => application.once("end", () => resolve(undefined)));
        const { code, where, message, remedy } = await thrownBy(async () =>
          sender.tasks.update("task-1", working, { tx: application }),
        );
        assert.equal([code, where], ["transaction_invalid", "tx"]);
        assert.match(message, "the transaction is no more");
        assert.match(remedy ?? "", "nothing of it was stored");
        await application.end().catch(() => undefined);
      }
    }
    assert.is((await sender.outbox.counts()).waiting, 0);
    assert.ok(database.pool);
  } finally {
    await close();
  }
});

test("a lock of a whole table is not called a row's", async () => {
  const { url, own, sender, close } = await opened();
  const locking = new pg.Client(url);
  await locking.connect();
  const database = await openPostgres({ url: own, connections: 2, lockTimeoutMs: 300 });
  const impatient = await createSender({
    ...optionsFor({ at: NOW }, new FakeNetwork({ at: NOW })),
    store: { database },
  });
  try {
    await sender.tasks.register(start(), { push });
    await locking.query("begin");
    await locking.query("lock table adbind_sent_tasks");
    const table = await thrownBy(async () => impatient.tasks.update("task-1", working));
    assert.is(table.code, "database_busy");
    assert.match(table.message, /kept a row, or a whole table, for 300 ms .*lock table, alter table/);
    await locking.query("rollback");
    await locking.query("begin");
    await locking.query("select * from adbind_sent_tasks for update");
    const row = await thrownBy(async () => impatient.tasks.update("task-1", working));
    assert.match(row.message, /kept a row for 300 ms/);
    await locking.query("rollback");
  } finally {
    await locking.end();
    await impatient.stop();
    await database.close();
    await close();
  }
});

test.run();
