/** What only the queue on NATS has: a stream, schedules, and servers that die. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { connect } from "@nats-io/transport-node";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { natsQueue } from "../../runtime/queue/index.js";
import { connectionOf } from "../../runtime/queue/nats/options.js";
import type { Job } from "../../runtime/queue/types.js";
import { createSender } from "../../runtime/sender/index.js";
import { openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";
import { FakeNetwork, optionsFor } from "../sender/fixture.js";
import { HOOK, secret } from "../sender/sender-suite.js";
import { hasNats, NO_NATS, startNats } from "../support/nats.js";
import { sharedPostgres } from "../support/postgres.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { type NatsGround, openedOn, takenOf } from "./nats-ground.js";
import { job, put } from "./queue-suite.js";

test("servers, topics and databases that cannot be used are refused before anything is stored", async () => {
  for (const options of [{ servers: " " }, { servers: "http://a" }, { servers: "nats://a", replicas: 2 }])
    assert.throws(() => natsQueue(options), /cannot be opened/);
  const store = openSqliteStore({ path: path.join(tempFolder(), "s.db") });
  const open = Promise.resolve(natsQueue({ servers: "nats://a" })(store.database, "t", {}));
  assert.match(await open.then(String, (error) => error.message), /its jobs are kept in PostgreSQL/);
  await store.close();
});

test("credentials and TLS of a server's URL are the client's, and are not shown", () => {
  const servers = "nats://u:p%20w@a:4222, tls://b:1";
  assert.equal(connectionOf({ servers }), { user: "u", pass: "p w", tls: {}, servers: ["a:4222", "b:1"] });
  assert.equal(connectionOf({ servers: ["nats://t@a"] }), { token: "t", servers: ["a"] });
  assert.equal(connectionOf({ servers: "nats://a", connection: { user: "v", pass: "x" } }), {
    ...{ user: "v", pass: "x", servers: ["a"] },
  });
});

/** Asks the servers as an operator would. */
async function asked<T>({ nats }: NatsGround, subject: string, body: object = {}): Promise<T> {
  const connection = await connect({ servers: nats.url.split(",") });
  try {
    return (await connection.request(`$JS.API.${subject}`, JSON.stringify(body), { timeout: 5_000 })).json<T>();
  } finally {
    await connection.close();
  }
}

interface StreamInfo {
  readonly config: { readonly num_replicas: number };
  readonly state: { readonly messages: number; readonly last_seq: number };
}

function streamTests(ground: NatsGround): void {
  test("a retry is a scheduled message: it comes at its time, and nobody has looked for it", async () => {
    const { queue, database, close } = await openedOn(ground);
    await put(queue, job({ key: "again" }));
    const [first] = await takenOf(queue);
    const due = Date.now() + 700;
    await queue.ack([{ job: first!, outcome: { kind: "later", due, error: "503" } }], Date.now());
    const before = await asked<StreamInfo>(ground, "STREAM.INFO.adbind_stream");
    assert.equal([before.state.messages, before.config.num_replicas], [1, 3]);
    // Only a ticket can bring it: its row is out of a relay's sight for half a minute.
    const rows = "select (token is not null) as marked from adbind_jobs";
    assert.equal(await database.query((q) => q.rows(rows)), [{ marked: true }]);
    let second: Job | undefined;
    await until(async () => {
      [second] = await takenOf(queue);
      return second !== undefined;
    });
    assert.ok(Date.now() >= due && Date.now() < due + 3_000, `${Date.now() - due} ms after it was due`);
    assert.equal([second!.attempts, second!.error], [1, "503"]);
    await queue.ack([{ job: second!, outcome: { kind: "done" } }], Date.now());
    await until(async () => (await asked<StreamInfo>(ground, "STREAM.INFO.adbind_stream")).state.messages === 0);
    await close();
  });

  test("one ticket is made where two relays find the same row", async () => {
    const { queue, database, other, close } = await openedOn(ground);
    const second = await other();
    await put(queue, job(), job());
    // As where the first one was killed before it marked its rows.
    await database.query((q) =>
      q.run("create function keep() returns trigger as 'begin return null; end' language plpgsql"),
    );
    await database.query((q) =>
      q.run(
        "create trigger keep before update on adbind_jobs for each row when (new.token = 'ticket') execute function keep()",
      ),
    );
    const before = (await asked<StreamInfo>(ground, "STREAM.INFO.adbind_stream")).state.last_seq;
    const jobs = (await Promise.all([takenOf(queue), takenOf(second)])).flat();
    assert.is((await asked<StreamInfo>(ground, "STREAM.INFO.adbind_stream")).state.last_seq, before + 2);
    assert.is(new Set(jobs.map(({ id }) => id)).size, jobs.length);
    await close();
  });
}

function lossTest(ground: NatsGround): void {
  test("a stream that is deleted whole costs time, and no event", async () => {
    const { queue, close } = await openedOn(ground, { resendMs: 300 });
    const other = await openedOn(ground, { resendMs: 300 });
    await put(queue, job({ key: "first" }));
    const [first] = await takenOf(queue);
    await queue.ack([{ job: first!, outcome: { kind: "later", due: Date.now() + 200, error: "503" } }], Date.now());
    await asked(ground, "STREAM.DELETE.adbind_stream");
    await put(queue, job({ key: "second" }));
    const found: string[] = [];
    await until(async () => {
      found.push(...(await takenOf(queue).catch(() => [])).map(({ key }) => key));
      return found.length === 2;
    });
    assert.equal(found.sort(), ["first", "second"]);
    await close();
    await other.close();
  });
}

/** Everything the servers have written. */
const written = (folder: string): Buffer =>
  Buffer.concat(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => readFileSync(path.join(one.parentPath, one.name))),
  );

function secretTest({ postgres, nats }: NatsGround): void {
  test("no secret, body or query of a URL is in the stream", async () => {
    const store = await openPostgresStore({ url: await postgres.database(), connections: 4 });
    const clock = { at: Date.now() };
    const network = new FakeNetwork(clock);
    network.react = () => 503;
    const sender = await createSender({
      ...(optionsFor(clock, network) as object as Omit<Parameters<typeof createSender>[0], "store">),
      ...{ store, queue: natsQueue({ servers: nats.url }) },
    });
    await sender.tasks.register(
      { taskId: "t", tool: "create_media_buy", status: "submitted", principal: "the-principal" },
      {
        push: {
          url: `${HOOK}?key=${secret}`,
          token: `token-${secret}`,
          authentication: { schemes: ["HMAC-SHA256"], credentials: secret },
        },
      },
    );
    await sender.tasks.update("t", { status: "working", message: "a word that is in no ticket" });
    sender.start();
    await until(async () => (await sender.outbox.list())[0]?.attempts === 1);
    const bytes = written(nats.folder);
    assert.ok(bytes.includes(new URL(HOOK).origin), "what is searched is what they keep");
    for (const text of [secret, "a word that is in no ticket", "the-principal", new URL(HOOK).pathname, "key="])
      assert.not.ok(bytes.includes(text), text);
    await sender.stop();
    await store.close();
  });
}

function majorityTest(ground: NatsGround): void {
  test("without a majority of the servers it stops and says so, and goes on when one is back", async () => {
    const { nats } = ground;
    const { queue, close } = await openedOn(ground);
    await put(queue, job({ key: "before" }));
    const [before] = await takenOf(queue);
    await queue.ack([{ job: before!, outcome: { kind: "done" } }], Date.now());
    await nats.kill(0);
    await put(queue, job({ key: "one is gone" }));
    let jobs: Job[] = [];
    await until(async () => {
      jobs = await takenOf(queue).catch(() => []);
      return jobs.length === 1;
    });
    await nats.kill(1);
    // What is under way ends in the database.
    const due = Date.now() + 200;
    assert.equal(await queue.ack([{ job: jobs[0]!, outcome: { kind: "later", due, error: "503" } }], Date.now()), [
      true,
    ]);
    await put(queue, job({ key: "two are gone" }));
    const fault = await takenOf(queue).then(String, (error) => error);
    assert.is(fault.code, "queue_unreachable");
    assert.match((await queue.alarms(Date.now(), 30)).join(), /nothing is delivered: no majority of the NATS servers/);
    await nats.start(1);
    // One that is given out is given out again once its lease has ended: on a busy machine before the other is.
    const found = new Set<string>();
    await until(async () => {
      for (const { key } of await takenOf(queue).catch(() => [])) found.add(key);
      return found.size === 2;
    });
    assert.equal([...found].sort(), ["one is gone", "two are gone"]);
    assert.not.match((await queue.alarms(Date.now(), 30)).join(), /nothing is delivered/);
    await nats.start(0);
    await close();
  });
}

function closingTest(ground: NatsGround): void {
  test("closing waits for no server, and an event that is under way ends in the database", async () => {
    const { nats } = ground;
    const { queue, database, close } = await openedOn(ground);
    await put(queue, job());
    const found: Job[] = [];
    // Servers that the test before has started again may still be electing their leader.
    await until(async () => found.push(...(await takenOf(queue).catch(() => []))) > 0);
    const [only] = found;
    await Promise.all([0, 1, 2].map((which) => nats.kill(which)));
    assert.equal(await queue.ack([{ job: only!, outcome: { kind: "done" } }], Date.now()), [true]);
    const began = performance.now();
    await queue.close();
    assert.ok(performance.now() - began < 10_000, `${performance.now() - began} ms`);
    assert.equal(await database.query((q) => q.rows("select 1 from adbind_jobs")), []);
    await close();
  });
}

if (hasNats()) {
  const [postgres, nats] = await Promise.all([sharedPostgres(), startNats()]);
  const ground: NatsGround = { postgres, nats };
  streamTests(ground);
  lossTest(ground);
  secretTest(ground);
  majorityTest(ground);
  closingTest(ground);
  test.after(async () => {
    await nats.stop();
    await postgres.stop();
  });
} else console.log(NO_NATS);

test.run();
