/** Endpoints that an operator moves: with their registrations, secrets and events, and to nobody who has not agreed. */
import * as assert from "uvu/assert";
import { openQueue } from "../../runtime/queue/index.js";
import type { OpenQueue } from "../../runtime/queue/types.js";
import { queueWith } from "../support/queue-with.js";
import { until } from "../support/until.js";
import { listening as answering } from "./fixture.js";
import { authentication, tell } from "./operations.case.js";
import { account, changed, listening, proving, told } from "./registered-secrets.js";
import { drained, HOOK, HOUR, push, reopened, type SenderCase, secret, start, suiteOf } from "./sender-suite.js";

/** Where they go. */
function placeCase(of: SenderCase): void {
  const test = suiteOf(of, "operations, moves");
  test("an endpoint moves with its registrations, their secrets and its events", async (context) => {
    const { sender, network } = context;
    const to = `https://new.example/h?key=${secret}`;
    await tell(sender, "a");
    await tell(sender, "b", { principal: "other" });
    await sender.channels.subscribe("rights", { resource: "r", principal: "buyer-1" }, { url: HOOK, authentication });
    const [mine] = (await sender.outbox.endpoints()).filter(({ principal }) => principal === "buyer-1");
    const moved = await sender.outbox.move(mine!.endpoint, to);
    assert.equal([moved.registrations, moved.events, moved.sealed], [2, 1, 0]);
    sender.start();
    await until(() => drained(sender));
    const rights = { rights_id: "r", brand_id: "b", reason: "x", effective_at: "2026-04-18T14:00:00Z" };
    await sender.channels.notify("rights", "r", rights);
    await until(() => network.sent.length === 3);
    assert.equal(network.sent.map(({ url }) => url).sort(), [HOOK, to, to].sort());
    assert.ok(network.sent.every(({ headers }) => Object.keys(headers).some((name) => /signature/i.test(name))));
    assert.not.ok((await of.bytes()).includes(secret));
    const refused = await sender.outbox.move(mine!.endpoint, "http://127.0.0.1/").catch((error) => error.code);
    assert.is(refused, "registration_invalid");
  });

  test("a move of what is not known is refused, and one that has ended is not", async (context) => {
    const { sender } = context;
    await tell(sender, "a");
    const { endpoint } = (await sender.outbox.endpoints())[0]!;
    const to = "https://new.example/{operation_id}/h";
    const mistyped = endpoint.slice(0, -1);
    for (const name of ["https://nobody.example x.y", mistyped]) {
      const refused = await sender.outbox.move(name, to).catch((error) => error);
      assert.is(refused.code, "endpoint_unknown");
      if (name === mistyped) assert.match(refused.message, `"${endpoint}"`, "it is offered");
    }
    const moved = await sender.outbox.move(endpoint, to);
    assert.equal([moved.registrations, moved.events], [1, 1]);
    await of.rows("delete from adbind_endpoints returning 1");
    const again = { endpoint, registrations: 0, events: 0, sealed: 0, unproved: 0, unreadable: [] };
    assert.equal(await sender.outbox.move(endpoint, to), again);
    const elsewhere = await sender.outbox.move(endpoint, "https://else.example/h").catch((error) => error.code);
    assert.is(elsewhere, "endpoint_unknown");
  });

  test("registrations whose endpoint was never noted move too", async (context) => {
    const { sender, network } = context;
    await tell(sender, "old");
    await of.rows("update adbind_sent_tasks set push_endpoint = '', a2a_endpoint = '' returning 1");
    const [mine] = await sender.outbox.endpoints();
    const moved = await sender.outbox.move(mine!.endpoint, "https://new.example/h");
    assert.equal([moved.registrations, moved.events], [1, 1]);
    const again = await sender.outbox.move(moved.endpoint, HOOK);
    assert.equal([again.registrations, again.endpoint], [1, mine!.endpoint]);
    sender.start();
    await until(() => drained(sender));
    assert.is(network.sent[0]!.url, HOOK);
  });

  test.run();
}

const rights = { rights_id: "r", brand_id: "b", reason: "x", effective_at: "2026-04-18T14:00:00Z" };

const at = "2026-04-18T14:00:00Z";
const result = {
  status: "completed",
  media_buy_id: "mb-1",
  packages: [],
  confirmed_at: at,
  revision: 1,
  media_buy_status: "active",
};

/** A queue before one of whose transactions something else happens. */
const interrupted =
  (of: SenderCase, before: { left: number; work: () => Promise<void> }): OpenQueue =>
  async (...args) => {
    const queue = await (of.queue ?? openQueue)(...args);
    return queueWith(queue, {
      async transact(work, key) {
        if (before.left-- === 0) await before.work();
        return queue.transact(work, key);
      },
    });
  };

/** What is of no use yet. */
function heldCase(of: SenderCase): void {
  const test = suiteOf(of, "operations, moves of what is held");
  test("what an open task holds for reports of its buy moves too, with its secrets, also where nothing else is there", async (context) => {
    const { sender } = context;
    const hmac = { schemes: ["HMAC-SHA256"], credentials: secret };
    const reporting = {
      url: "https://buyer.example/reports",
      reporting_frequency: "daily",
      authentication: hmac,
    } as const;
    assert.ok((await sender.tasks.register(start(), { push })).ok);
    for (const taskId of ["task-1", "only-reports"])
      assert.ok((await sender.tasks.hold(start({ taskId }), reporting)).ok);
    assert.ok((await sender.tasks.hold(start({ taskId: "a-stranger", principal: "other" }), reporting)).ok);
    const { principal } = start();
    const endpoint = (await of.rows("select * from adbind_sender_secrets"))
      .filter((row) => row.principal === principal)
      .map((row) => String(row.endpoint))[0]!;
    const to = "https://new.example/reports";
    const moved = await sender.outbox.move(endpoint, to);
    assert.equal([moved.registrations, moved.sealed], [2, 0]);
    for (const taskId of ["task-1", "only-reports"])
      assert.equal((await sender.tasks.held(taskId)).reporting, { ...reporting, url: to });
    assert.equal((await sender.tasks.held("task-1")).push, push, "what is elsewhere stays");
    assert.equal((await sender.tasks.held("a-stranger")).reporting, reporting);
  });

  test("registrations of a task whose key is gone are each told once", async (context) => {
    const there = { url: HOOK, authentication };
    assert.ok((await context.sender.tasks.register(start(), { push: there })).ok);
    assert.ok((await context.sender.tasks.hold(start(), { ...there, reporting_frequency: "daily" })).ok);
    const sender = await reopened(of, context, {
      secrets: { current: "k2", keys: { k2: new Uint8Array(32).fill(9) } },
    });
    const [secret] = await of.rows("select endpoint from adbind_sender_secrets");
    const moved = await sender.outbox.move(String(secret!.endpoint), "https://new.example/h");
    assert.equal([moved.registrations, moved.sealed], [0, 2]);
  });

  test.run();
}

/** A task that ends while its endpoint moves. */
function endedMeanwhileCase(of: SenderCase): void {
  const test = suiteOf(of, "operations, moves beside the end of a task");
  test("reports of a buy go to the new place, at whatever moment of a move its task ends", async (context) => {
    const reporting = { url: HOOK, reporting_frequency: "daily", authentication } as const;
    const to = "https://new.example/reports";
    // A move of so little has no more transactions.
    for (let transactions = 0; transactions < 8; transactions++) {
      await context.sender.stop();
      await of.reset();
      const before = { left: Number.POSITIVE_INFINITY, work: async (): Promise<void> => undefined };
      const sender = await reopened(of, context, {
        reports: () => ({ delayed: true, currency: "USD" }),
        queue: context.looks.opening(interrupted(of, before)),
      });
      // Told of there already, so that the endpoint has a name.
      await sender.channels.subscribe("rights", { resource: "r", principal: "buyer-1" }, { url: HOOK, authentication });
      await sender.channels.notify("rights", "r", rights);
      const { endpoint } = (await sender.outbox.endpoints())[0]!;
      assert.ok((await sender.tasks.hold(start(), reporting)).ok);
      before.work = async () => {
        const held = await sender.tasks.held("task-1");
        await sender.tasks.update("task-1", { status: "completed", result });
        await sender.channels.open({ mediaBuyId: "mb-1", principal: "buyer-1" }, { reporting: held.reporting! });
      };
      before.left = transactions;
      await sender.outbox.move(endpoint, to);
      if (before.left >= 0) await before.work();
      const rows = await of.rows("select config from adbind_channels where resource = 'mb-1' and kind = 'reporting'");
      assert.equal(
        rows.map(({ config }) => JSON.parse(String(config)).url),
        [to],
        `before transaction ${transactions}`,
      );
      context.sender = sender;
    }
  });

  test.run();
}

/** Those who have to agree. */
function provedCase(of: SenderCase): void {
  const test = suiteOf(of, "operations, moves to be proved");
  test("a config that was moved is told nothing where it is now until it has answered there", async (context) => {
    const { network, clock } = context;
    const sender = await reopened(of, context, proving);
    network.react = listening;
    await sender.notifications.sync(account, [told]);
    await sender.notifications.notify(changed);
    const { endpoint } = (await sender.outbox.endpoints())[0]!;
    const to = "https://new.example/dead";
    const moved = await sender.outbox.move(endpoint, to);
    assert.equal([moved.registrations, moved.unproved, moved.events], [1, 1, 1]);
    await sender.notifications.notify(changed);
    assert.is((await sender.notifications.list(account))[0]!.active, false);
    sender.start();
    await until(() => network.sent.some(({ url }) => url === to));
    assert.equal(
      network.sent.filter(({ url, body }) => url === to && body.type !== "webhook.challenge"),
      [],
    );
    assert.is((await sender.outbox.counts()).waiting, 2);
    network.react = answering;
    clock.at += HOUR;
    await until(async () => (await sender.notifications.list(account))[0]!.active);
    clock.at += HOUR;
    await until(() => drained(sender));
    const events = network.sent.filter(({ body }) => body.type === undefined);
    assert.equal(
      events.map(({ url, headers }) => [url, headers.authorization]),
      [
        [to, `Bearer ${told.authentication.credentials}`],
        [to, `Bearer ${told.authentication.credentials}`],
      ],
    );
  });
  test.run();
}

/** A queue of a process that is killed: before so many of its transactions have been written. */
const killedAfter =
  (of: SenderCase, written: number): OpenQueue =>
  async (...args) => {
    const queue = await (of.queue ?? openQueue)(...args);
    let left = written;
    const live = async (): Promise<void> => {
      if (left-- <= 0) throw new Error("killed");
    };
    return queueWith(queue, {
      transact: (work, key) => live().then(() => queue.transact(work, key)),
      adjust: (what, now, first) => live().then(() => queue.adjust(what, now, first)),
    });
  };

/** Writes of a move of what is below, and some. */
const WRITES = 9;

/** What becomes of events where a move is broken off, or an attempt is under way meanwhile. */
function brokenOffCase(of: SenderCase): void {
  const test = suiteOf(of, "operations, moves that are broken off");
  const to = "https://new.example/h";

  test("a move that was killed at any moment is finished by the next one, with every event once and in order", async (context) => {
    for (let written = 0; written < WRITES; written++) {
      await context.sender.stop();
      await of.reset();
      context.network.sent.length = 0;
      let sender = await reopened(of, context, {});
      for (const task of ["a", "b"]) {
        await tell(sender, task);
        await sender.tasks.update(task, { status: "input-required" });
      }
      await sender.channels.subscribe("rights", { resource: "r", principal: "buyer-1" }, { url: HOOK, authentication });
      await sender.channels.notify("rights", "r", rights);
      await of.rows("update adbind_jobs set state = 'dead' where id = (select max(id) from adbind_jobs) returning 1");
      const [{ endpoint }] = (await sender.outbox.endpoints()) as unknown as [{ endpoint: string }];
      await sender.outbox.pause(endpoint);
      sender = await reopened(of, context, { queue: context.looks.opening(killedAfter(of, written)) });
      await sender.outbox.move(endpoint, to).catch((error: Error) => assert.is(error.message, "killed"));
      sender = await reopened(of, context, {});
      await sender.outbox.move(endpoint, to);
      assert.equal(await sender.outbox.list({ endpoint }), [], `killed after ${written}`);
      sender.start();
      for (const { id } of await sender.outbox.list({ state: "dead" })) assert.ok(await sender.outbox.replay(id));
      await until(() => drained(sender));
      const told = context.network.sent.map(({ url, body }) => [url, body.task_id ?? "r", body.status ?? ""].join(" "));
      assert.equal(
        ["a", "b", "r"].map((one) => told.filter((line) => line.includes(` ${one} `))),
        [...["a", "b"].map((task) => [`${to} ${task} working`, `${to} ${task} input-required`]), [`${to} r `]],
      );
    }
  });

  test("what is under way while its endpoint moves, and fails, is attempted at the new place next", async (context) => {
    const { sender, network, clock } = context;
    const answer = Promise.withResolvers<number>();
    network.react = ({ url }) => (url === to ? 200 : answer.promise);
    sender.start();
    await tell(sender, "a");
    await until(() => network.sent.length === 1);
    const [mine] = await sender.outbox.endpoints();
    assert.is((await sender.outbox.move(mine!.endpoint, to)).events, 1);
    await sender.outbox.pause(mine!.endpoint, { ahead: true });
    answer.resolve(500);
    await until(async () => (await sender.outbox.list())[0]?.attempts === 1);
    clock.at += HOUR;
    await until(() => drained(sender));
    assert.equal(
      network.sent.map(({ url }) => url),
      [HOOK, to],
    );
  });

  test.run();
}

export function moveCase(of: SenderCase): void {
  for (const cases of [placeCase, heldCase, endedMeanwhileCase, provedCase, brokenOffCase]) cases(of);
}
