/** Attempts over real connections and through an interceptor; schedules and redaction over random input. */

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import nock from "nock";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createGuardedFetch, retryAfterMs } from "../../runtime/net/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { createSender, type OutboxEntry, type Sender } from "../../runtime/sender/index.js";
import { OUTBOX_TOPIC } from "../../runtime/sender/outbox.js";
import { redactUrl } from "../../runtime/sender/redact.js";
import { HORIZON_MS, nextAttempt } from "../../runtime/sender/schedule.js";
import { assembleSender } from "../../runtime/sender/sender.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { type SenderTables, senderTables } from "../../runtime/store/sender-tables.js";
import { until } from "../support/until.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";
import { holds, push, start } from "./sender-suite.js";

// Active it replaces sockets too, and the other tests here are about those.
nock.restore();

const folder = mkdtempSync(path.join(tmpdir(), "adbind-delivery-"));
let count = 0;

interface Opened {
  readonly sender: Sender;
  readonly store: SqliteStore;
  readonly clock: { at: number };
  close(): Promise<void>;
}

async function open(over: object): Promise<Opened> {
  count += 1;
  const clock = { at: NOW };
  const store = openSqliteStore({ path: path.join(folder, `${count}.db`) });
  const { fetch: _, ...options } = optionsFor(clock, new FakeNetwork(clock));
  const sender = await createSender({ ...options, store, ...over });
  return {
    sender,
    store,
    clock,
    async close() {
      await sender.stop();
      await store.close();
    },
  };
}

const serve = (on: Parameters<typeof createServer>[1]): Promise<{ server: Server; url: string }> =>
  new Promise((resolve) => {
    const server = createServer(on!);
    server.listen(0, "127.0.0.1", () => {
      resolve({ server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` });
    });
  });

const errorOf = async ({ sender }: Opened) => (await sender.activity({ principal: "buyer-1", subject: "task-1" }))[0]!;

async function once(opened: Opened, url: string): Promise<Awaited<ReturnType<typeof errorOf>>> {
  opened.sender.start();
  await opened.sender.tasks.register(start(), { push: { ...push, url } });
  await opened.sender.tasks.update("task-1", { status: "working" });
  await until(async () =>
    (await opened.sender.activity({ principal: "buyer-1", subject: "task-1" })).some((one) => one.status !== "pending"),
  );
  return errorOf(opened);
}

test("whatever a receiver does to the connection is a failed attempt that is tried again", async () => {
  const net = { allowHttp: true, allowLoopback: true };
  for (const [behaviour, status, message] of [
    [
      (request) => request.resume().on("end", () => request.socket.resetAndDestroy()),
      "connection_error",
      /^connection_lost/,
    ],
    [(request) => request.socket.destroy(), "connection_error", /^connection_lost/],
    [
      (_request, response) => response.writeHead(302, { location: "https://elsewhere.example/" }).end(),
      "failed",
      /^HTTP 302$/,
    ],
    [
      (_request, response) =>
        response.writeHead(401, { "www-authenticate": 'Signature error="webhook_signature_key_unknown"' }).end(),
      "failed",
      /^HTTP 401: webhook_signature_key_unknown$/,
    ],
    [(_request, response) => response.socket!.end("garbage\r\n\r\n"), "failed", /^response_malformed/],
  ] as [Parameters<typeof createServer>[1], string, RegExp][]) {
    const { server, url } = await serve(behaviour);
    const opened = await open({ net });
    const record = await once(opened, url);
    assert.is(record.status, status, JSON.stringify(record));
    assert.match(record.error_message!, message);
    assert.equal(await opened.sender.outbox.counts(), holds({ waiting: 1 }));
    await opened.close();
    server.closeAllConnections();
    server.close();
  }
});

/** @returns over how many connections sixty events went to an endpoint that has four at a time */
async function connectionsOfSixty(): Promise<number> {
  const sockets = new Set<unknown>();
  let arrived = 0;
  const { server, url } = await serve((request, response) => {
    sockets.add(request.socket);
    arrived += 1;
    request.resume().on("end", () => response.end());
  });
  const opened = await open({ net: { allowHttp: true, allowLoopback: true }, worker: { perEndpoint: 4 } });
  const tasks = Array.from({ length: 60 }, (_, n) => `task-${n}`);
  for (const taskId of tasks) {
    await opened.sender.tasks.register(start({ taskId }), { push: { ...push, url } });
    await opened.sender.tasks.update(taskId, { status: "working" });
  }
  opened.sender.start();
  await until(() => arrived === tasks.length, "every event has arrived");
  await opened.close();
  server.closeAllConnections();
  server.close();
  return sockets.size;
}

test("attempts that follow each other go over the connections that are open", async () => {
  // Another one or two may be opened while the endpoint proves itself; one for each attempt that follows would be 8. Mostly:
  // a machine that does much else may be late with an answer's end.
  const counts: number[] = [];
  while (counts.length < 5) counts.push(await connectionsOfSixty());
  assert.ok(counts.filter((count) => count <= 6).length >= 3, `${counts.join(", ")} connections`);
});

test("a name that resolves to this machine is not connected to, and one that moves is pinned", async () => {
  let hits = 0;
  const { server, url } = await serve((_request, response) => {
    hits += 1;
    response.end();
  });
  const { port } = new URL(url);
  const opened = await open({ net: { allowHttp: true, lookup: async () => [{ address: "127.0.0.1", family: 4 }] } });
  const record = await once(opened, `http://rebound.example:${port}/hook`);
  assert.is(record.status, "failed");
  assert.match(record.error_message!, "address_refused");
  assert.is(hits, 0);
  await opened.close();
  server.close();
});

test("an interceptor sees one POST with the signature and nothing more", async () => {
  nock.activate();
  nock.disableNetConnect();
  const scope = nock("https://buyer.example")
    .post("/hooks/a")
    .matchHeader("signature", /^sig1=:[\w-]+:$/)
    .matchHeader("signature-input", /^sig1=/)
    .matchHeader("content-digest", /^sha-256=:[\w-]+:$/)
    .reply(202, "ok");
  const lookup = async () => [{ address: "93.184.216.34", family: 4 }];
  const fetch = createGuardedFetch({ fetch: globalThis.fetch, lookup });
  const opened = await open({ fetch });
  const record = await once(opened, push.url);
  assert.is(record.status, "success", JSON.stringify(record));
  assert.ok(scope.isDone());
  assert.is(record.http_status_code, 202);
  await opened.close();
  nock.cleanAll();
  nock.restore();
});

test("a clock that is set back, or forward, neither stalls a retry nor lends an event another day", async () => {
  const { server, url } = await serve((_request, response) => response.writeHead(500).end());
  const opened = await open({ net: { allowHttp: true, allowLoopback: true } });
  const { clock, sender } = opened;
  clock.at = NOW + 40 * 86_400_000;
  await once(opened, url);
  await until(async () => (await sender.outbox.list())[0]!.attempts === 1);
  clock.at = NOW;
  await until(async () => (await sender.outbox.list())[0]!.attempts === 2);
  const [entry] = await sender.outbox.list();
  assert.ok(entry!.due! <= NOW + 10_000);
  clock.at = NOW + 41 * 86_400_000;
  await until(async () => (await sender.outbox.counts()).dead === 1);
  await opened.close();
  server.close();
});

test("where an event goes cannot be looked up now: it goes later, and no attempt is counted", async () => {
  const clock = { at: NOW };
  const network = new FakeNetwork(clock);
  const store = openSqliteStore({ path: path.join(folder, "away.db") });
  const queue = openQueue(store.database, OUTBOX_TOPIC, { now: () => clock.at });
  const known = senderTables(store.database);
  let away = true;
  const tables: SenderTables = {
    ...known,
    *secretsOf(q, names) {
      if (away) throw new Error("the database is away");
      return yield* known.secretsOf(q, names);
    },
  };
  const sender = await assembleSender({
    queue,
    tables,
    options: { ...optionsFor(clock, network), store },
    place: store.database,
  });
  // A lease brings the rest along.
  await sender.tasks.register(start(), { push: { ...push, token: "a secret of sixteen" } });
  await sender.tasks.update("task-1", { status: "working" });
  sender.start();
  await until(async () => (await sender.outbox.list())[0]!.due === NOW + 5_000);
  const [{ attempts, firstAt, state }] = (await sender.outbox.list()) as [OutboxEntry];
  assert.equal([attempts, firstAt, state], [0, null, "waiting"]);
  assert.equal(await sender.activity({ principal: "buyer-1", subject: "task-1" }), []);
  away = false;
  clock.at += 5_000;
  await until(() => network.sent.length === 1);
  await sender.stop();
  await store.close();
});

test("delays grow from a second to an hour and never reach past the day", () => {
  fc.assert(
    fc.property(
      fc.nat(200),
      fc.nat(HORIZON_MS - 1),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (attempt, age, random) => {
        const due = nextAttempt({ attempt, firstAt: NOW, now: NOW + age }, () => random)!;
        const delay = due - (NOW + age);
        const full = Math.min(1_000 * 2 ** attempt, 3_600_000);
        assert.ok(due <= NOW + HORIZON_MS && delay > 0);
        assert.ok(due === NOW + HORIZON_MS || (delay >= full * 0.75 - 1 && delay <= full * 1.25 + 1));
      },
    ),
  );
  assert.is(nextAttempt({ attempt: 3, firstAt: NOW, now: NOW + HORIZON_MS }, Math.random), undefined);
  assert.is(retryAfterMs("120", NOW), 120_000);
  for (const digits of [10, 20, 400]) assert.is(retryAfterMs("9".repeat(digits), NOW), 3_600_000);
  assert.is(retryAfterMs(new Date(NOW + 5_000).toUTCString(), NOW), 5_000);
  for (const text of ["-1", "soon", "", new Date(NOW - 5_000).toUTCString()])
    assert.is(retryAfterMs(text, NOW), undefined);
});

test("a URL that is shown has no query, no user and nothing that looks like a secret", () => {
  assert.is(
    redactUrl("https://u:p@a.example:8443/hooks/create_media_buy?token=x#y"),
    "https://a.example:8443/hooks/create_media_buy",
  );
  for (const secret of [
    "0f8fad5b-d9cb-469f-a165-70867728950e",
    "whsec_abc",
    "deadbeefdeadbeef00",
    "a1B2c3D4e5F6g7H8i9J0",
  ]) {
    assert.is(redactUrl(`https://a.example/h/${secret}/x`), "https://a.example/h/redacted/x");
  }
});

test.after(() => rmSync(folder, { recursive: true, force: true }));
test.run();
