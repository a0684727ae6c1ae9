/** Row level security that is switched on while a sender runs: it is told, nothing is lost, and it goes on when that is undone. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runStatements, sharedPostgres } from "../support/postgres.js";
import { thrownBy } from "../support/thrown.js";
import { until } from "../support/until.js";
import { administered } from "./administered.js";
import { HOOK, push, start } from "./sender-suite.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());
const opened = () => administered(postgres);

const working = { status: "working" } as const;
/** With something that is kept sealed. */
const SECRET = { ...push, token: "t".repeat(32) };
const HIDES = /cannot be used: row level security hides all rows of adbind_[\w, ]+ from the role \(.*disable/;

test("a change of a task whose row is hidden meanwhile is refused, with what to do, in whosever transaction; and told once it is seen", async () => {
  const { own, sender, network, by, close } = await opened();
  const application = new pg.Client(own);
  await application.connect();
  try {
    await sender.tasks.register(start(), { push });
    await by("alter table adbind_sent_tasks enable row level security");
    for (const taskId of ["task-1", "nobody"]) {
      const { code, message } = await thrownBy(async () => sender.tasks.update(taskId, working));
      assert.is(code, "database_unreachable");
      assert.match(message, HIDES);
    }
    await application.query("begin");
    const joined = await thrownBy(async () => sender.tasks.update("task-1", working, { tx: application }));
    assert.match(joined.message, HIDES);
    await application.query("rollback");
    await by("alter table adbind_sent_tasks disable row level security");
    assert.is((await sender.tasks.update("task-1", working)).keys.length, 1);
    assert.equal(await sender.tasks.update("nobody", working), { keys: [] });
    sender.start();
    await until(() => network.sent.length === 1);
  } finally {
    await application.end();
    await close();
  }
});

test("events whose registration is hidden are not set aside, and what hides it is told within one look", async () => {
  const { clock, sender, network, lines, by, close } = await opened();
  try {
    await sender.tasks.register(start(), { push });
    await sender.channels.open({ mediaBuyId: "buy-1", principal: "buyer-1" }, { events: { ...push } as never });
    await sender.tasks.update("task-1", working);
    await by(
      "alter table adbind_sent_tasks enable row level security",
      "alter table adbind_channels enable row level security",
    );
    sender.start();
    await until(() => lines.some(({ message, text }) => /look for what is due/.test(message) && HIDES.test(text)));
    const { code, message } = await thrownBy(async () => sender.channels.close("buy-1"));
    assert.is(code, "database_unreachable");
    assert.match(message, HIDES);
    assert.equal(network.sent, []);
    const { waiting, refused } = await sender.outbox.counts();
    assert.equal([waiting, refused], [1, 0]);
    await by(
      "alter table adbind_sent_tasks disable row level security",
      "alter table adbind_channels disable row level security",
    );
    // A look that began before puts it off once more.
    await until(() => {
      clock.at += 1_000;
      return network.sent.length === 1;
    });
  } finally {
    await close();
  }
});

test("of a task whose row is hidden nothing is told as if it were not there: what is held, attached or to be forgotten", async () => {
  const { sender, by, close } = await opened();
  const reporting = {
    url: HOOK,
    reporting_frequency: "daily",
    authentication: { schemes: ["Bearer"], credentials: "c".repeat(32) },
  };
  const held = () => sender.tasks.held("task-1", { principal: "buyer-1" });
  try {
    await sender.tasks.register(start(), { push: SECRET });
    await sender.tasks.hold(start(), reporting as never);
    for (const table of ["adbind_sent_tasks", "adbind_sender_secrets"]) {
      await by(`alter table ${table} enable row level security`);
      const asked = {
        held,
        ...(table === "adbind_sent_tasks" && {
          attach: () => sender.tasks.attach(start(), null),
          attached: () => sender.tasks.attached("task-1", { principal: "buyer-1" }),
          forget: () => sender.tasks.forget("task-1", "buyer-1"),
        }),
      };
      for (const [name, ask] of Object.entries(asked)) {
        const { code, message } = await thrownBy(async () => ask());
        assert.is(code, "database_unreachable", name);
        assert.match(message, HIDES);
      }
      await by(`alter table ${table} disable row level security`);
    }
    assert.equal(Object.keys(await held()).sort(), ["push", "reporting"]);
  } finally {
    await close();
  }
});

for (const [table, why] of [
  ["adbind_job_bodies", "what they are is not there"],
  ["adbind_endpoints", "an operator may have paused their endpoint"],
  ["adbind_sender_secrets", "what they are authenticated with is not there"],
] as const)
  test(`while ${table} is hidden no event goes out or is set aside: ${why}`, async () => {
    const { clock, url, sender, network, lines, by, close } = await opened();
    try {
      await sender.tasks.register(start(), { push: SECRET });
      await sender.tasks.update("task-1", working);
      await by(`alter table ${table} enable row level security`);
      sender.start();
      await until(() => lines.some(({ text }) => HIDES.test(text)));
      await sleep(500);
      const { waiting, refused } = await sender.outbox.counts();
      assert.equal([network.sent.length, waiting, refused], [0, 1, 0]);
      const told = /outbox could not be reached|attempt could not be made/;
      assert.ok(lines.some(({ message, text }) => told.test(message) && HIDES.test(text)));
      // The lease that found it would end by itself, in ten seconds.
      await runStatements(
        url,
        `alter table ${table} disable row level security`,
        "update adbind_jobs set lease_until = 0",
      );
      // And an attempt that could not be made is made again after a while.
      clock.at += 60_000;
      await until(() => network.sent.length === 1);
    } finally {
      await close();
    }
  });

test("rows that a policy shows are nothing to be told of", async () => {
  const { role, sender, by, close } = await opened();
  try {
    await sender.tasks.register(start(), { push });
    await by(
      "alter table adbind_sent_tasks enable row level security",
      `create policy all_of_it on adbind_sent_tasks to ${role} using (true)`,
    );
    assert.is((await sender.tasks.update("task-1", working)).keys.length, 1);
    assert.equal(await sender.tasks.update("nobody", working), { keys: [] });
  } finally {
    await close();
  }
});

test.run();
