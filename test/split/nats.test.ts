/** Events of several databases that one NATS hands out: databases have the same numbers of events, and principals move. */
import { connect } from "@nats-io/transport-node";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { natsQueue } from "../../runtime/queue/index.js";
import { sourceName } from "../../runtime/queue/nats/tickets.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { hasNats, NO_NATS, startNats, type TestNats } from "../support/nats.js";
import { until } from "../support/until.js";
import { type Ground, postgresGround } from "./databases.js";
import { buyers, FOUR, fill, going, type PrincipalWorld, principalWorld, THREE, taskOf } from "./principal-world.js";

interface StreamState {
  /** Absent while there is no stream. */
  readonly state?: { readonly messages: number; readonly consumer_count: number };
}

/** What the servers say of the stream. */
async function streamOf({ url }: TestNats): Promise<NonNullable<StreamState["state"]>> {
  const connection = await connect({ servers: url.split(",") });
  try {
    const answer = await connection.request("$JS.API.STREAM.INFO.adbind_webhooks", "", { timeout: 5_000 });
    return answer.json<StreamState>().state ?? { messages: 0, consumer_count: 0 };
  } finally {
    await connection.close();
  }
}

const keysOf = (sent: readonly { readonly body: Readonly<Record<string, unknown>> }[]): string[] =>
  sent.map(({ body }) => body.idempotency_key as string).sort();

function collisions(nats: TestNats): void {
  test("events with the same numbers in two databases are handed out by one stream, each of them once", async () => {
    const [one, two] = [await place.instance(3), await place.instance(3)];
    const some = THREE.flatMap((name) => buyers.filter((buyer) => placeAmong(THREE, buyer) === name).slice(0, 2));
    const keys: string[] = [];
    for (const principal of some) keys.push(...(await fill(one.sender, principal, 3)));
    const numbers = async (name: string) =>
      (await place.database(name)).query((q) => q.rows<{ id: number }>("select id from adbind_jobs order by id"));
    assert.equal(await numbers("a"), await numbers("b"), "what could be mistaken");
    const before = await streamOf(nats);
    one.sender.start();
    two.sender.start();
    await until(async () => (await one.sender.outbox.counts()).waiting === 0);
    assert.equal(keysOf([...one.network.sent, ...two.network.sent]), keys.sort());
    for (const principal of some)
      assert.is((await one.sender.activity({ principal, subject: taskOf(principal) })).length, 3);
    // Each database has its own, and nothing is left in the stream.
    await until(async () => (await streamOf(nats)).messages === 0);
    assert.is((await streamOf(nats)).consumer_count, before.consumer_count + 3);
  });
}

function images(): void {
  test("databases of one image have sources of their own by their names in the split", async () => {
    const database = await place.database("a");
    const own = await database.query((q) => sourceName(q));
    await database.execute("update adbind_splits set own = 'b'");
    assert.is.not(await database.query((q) => sourceName(q)), own);
  });
}

function scheduled(nats: TestNats): void {
  test("a principal moves while his retries are in the stream: each comes once, of where he went", async () => {
    const { sender, network } = await place.instance(4);
    const [principal] = going as [string];
    let fails = true;
    network.react = () => (fails ? 503 : 200);
    const keys = await fill(sender, principal, 3);
    sender.start();
    const waiting = async () => (await sender.outbox.list()).filter(({ attempts }) => attempts > 0).length;
    await until(async () => (await waiting()) === keys.length, "each to have failed once");
    assert.ok((await streamOf(nats)).messages > 0, "their retries are in the stream");
    const change = place.change();
    await change.add("d");
    fails = false;
    const failed = network.sent.length;
    assert.is(await change.move(), 1);
    await until(async () => (await sender.outbox.counts()).waiting === 0);
    assert.equal(Object.keys(await place.where(principal)), [placeAmong(FOUR, principal)]);
    assert.equal(keysOf(network.sent.slice(failed)), keys.sort());
    await until(async () => (await streamOf(nats)).messages === 0, "tickets of rows that have left to be taken out");
  });
}

let place: PrincipalWorld;

if (hasNats()) {
  const [databases, nats] = await Promise.all([postgresGround(), startNats()]);
  const ground: Ground = { ...databases, name: "nats", queue: natsQueue({ servers: nats.url }) };
  test.before.each(async () => {
    place = await principalWorld(ground);
  });
  test.after.each(() => place.close());
  collisions(nats);
  images();
  scheduled(nats);
  test.after(async () => {
    await nats.stop();
    await databases.close();
  });
} else {
  console.log(NO_NATS);
  test("there is no server", () => undefined);
}

test.run();
