/** `adbind outbox` on a machine whose clock is an hour off from the database's server. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/outbox.js";
import { openPostgres } from "../../runtime/db/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { FakeNetwork, optionsFor } from "../sender/fixture.js";
import { HOUR, push, start } from "../sender/sender-suite.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { runCommand } from "./run-command.js";

const postgres = await sharedPostgres();
const { now: system } = Date;
test.after.each(() => {
  Date.now = system;
});
test.after(() => postgres.stop());

for (const ms of [HOUR, -HOUR])
  test(`what an operator does on a machine whose clock is ${ms > 0 ? "ahead" : "behind"} has the server's times`, async () => {
    const url = await postgres.database();
    const database = await openPostgres({ url, connections: 3 });
    const network = new FakeNetwork({ at: 0 });
    const { now: _, ...options } = optionsFor({ at: 0 }, network);
    const sender = await createSender({ ...options, store: { database }, worker: { pollMs: 10 } } as never);
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "working" });
    const fromServer = (text: string): Promise<(number | null)[]> =>
      database.query(function* (q) {
        const clock = "(extract(epoch from clock_timestamp()) * 1000)::float8";
        return (yield* q.rows<{ ms: number | null }>(`select v - ${clock} as ms from (${text}) as t (v)`)).map(
          (row) => row.ms,
        );
      });
    const near = async (text: string): Promise<void> => {
      const times = await fromServer(text);
      assert.is(times.length, 1, text);
      assert.ok(Math.abs(times[0]!) < HOUR / 4, `${text}: ${times[0]}`);
    };
    const run = async (...argv: string[]): Promise<{ readonly out: string }> => {
      Date.now = () => system() + ms;
      const { code, out, err } = await runCommand(register, [...argv, "--store", url]);
      Date.now = system;
      assert.is(code, 0, err);
      return { out };
    };
    const [event] = await sender.outbox.list();
    const { endpoint } = (await sender.outbox.endpoints())[0]!;
    const listed = async (...argv: string[]): Promise<number> => {
      const { out } = await run("list", ...argv, "--json");
      return JSON.parse(out).events.length;
    };
    // Made a moment ago, whatever the clock here says.
    assert.equal([await listed("--from", "30m"), await listed("--to", "30m")], [1, 0]);
    await run("pause", endpoint);
    await near("select stopped_at from adbind_endpoints");
    await run("resume", endpoint);
    await near("select resumed_at from adbind_endpoints");
    await database.query((q) => q.run("update adbind_jobs set state = 'refused', created_at = 0", []));
    await run("replay", String(event!.id));
    await near("select due from adbind_jobs");
    await near("select created_at from adbind_jobs");
    sender.start();
    await until(() => network.sent.length === 1);
    await sender.stop();
    await database.close();
  });

test.run();
