/** What servers of NATS refuse, and what is there already when a queue comes to them. */
import { connect } from "@nats-io/transport-node";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { natsQueue } from "../../runtime/queue/index.js";
import type { NatsOptions } from "../../runtime/queue/nats/options.js";
import { hasNats, NO_NATS, startNats } from "../support/nats.js";
import { sharedPostgres } from "../support/postgres.js";
import { job, put } from "./queue-suite.js";

const SECOND_NS = 1_000_000_000;

if (hasNats()) {
  const [postgres, nats] = await Promise.all([sharedPostgres(), startNats(1)]);
  const database = await openPostgres({ url: await postgres.database(), connections: 4 });
  const take = async (topic: string, leaseMs: number, options: Partial<NatsOptions> = { replicas: 1 }) => {
    const queue = await natsQueue({ servers: nats.url, ...options })(database, topic, { leaseMs });
    try {
      await put(queue, job());
      const jobs = await queue.take({ now: Date.now(), limit: 10, room: () => 10 });
      await queue.ack(
        jobs.map((one) => ({ job: one, outcome: { kind: "done" } })),
        Date.now(),
      );
      return jobs.length;
    } catch (error) {
      return String(error);
    } finally {
      await queue.close();
    }
  };
  /** Asks the server as an operator would. */
  const asked = async <T>(subject: string, body: object = {}): Promise<T> => {
    const connection = await connect({ servers: nats.url });
    try {
      return (await connection.request(`$JS.API.${subject}`, JSON.stringify(body), { timeout: 5_000 })).json<T>();
    } finally {
      await connection.close();
    }
  };
  interface Consumers {
    readonly consumers: { readonly name: string; readonly config: { readonly ack_wait: number } }[];
  }
  const consumerOf = async (topic: string) =>
    (await asked<Consumers>(`CONSUMER.LIST.adbind_${topic}`, { offset: 0 })).consumers[0]!;

  test("a server that stands alone and is to keep three copies is told of as one that refuses, not as one that is away", async () => {
    const told = String(await take("wide", 2_000, {}));
    assert.match(told, /the NATS servers refuse .*replicas > 1 not supported .*replicas: 1/);
    assert.not.match(told, /two of three|no majority/);
  });

  test("an instance that leases for another time shares the consumer with those that were there before", async () => {
    const waits: number[] = [];
    for (const leaseMs of [2_000, 3_000, 1_000]) {
      assert.is(await take("shared", leaseMs), 1, `${leaseMs} ms`);
      waits.push((await consumerOf("shared")).config.ack_wait / SECOND_NS);
    }
    assert.equal(waits, [3, 4, 4]);
  });

  test("a consumer that an operator has changed is used as it is, and one that pushes is refused by name", async () => {
    assert.is(await take("changed", 2_000), 1);
    const { name, config } = await consumerOf("changed");
    const [stream_name, subject] = ["adbind_changed", `CONSUMER.DURABLE.CREATE.adbind_changed.${name}`];
    const changed = { ...config, max_ack_pending: 7 };
    assert.not.ok((await asked<{ error?: object }>(subject, { stream_name, config: changed })).error);
    assert.is(await take("changed", 2_000), 1);
    assert.is(((await consumerOf("changed")).config as { max_ack_pending?: number }).max_ack_pending, 7);
    await asked(`CONSUMER.DELETE.adbind_changed.${name}`);
    const { max_waiting: _, ...pushing } = { max_waiting: 0, ...config, deliver_subject: "elsewhere" };
    assert.not.ok((await asked<{ error?: object }>(subject, { stream_name, config: pushing })).error);
    assert.match(String(await take("changed", 2_000)), /the consumer is not one of tickets .*adbind_changed/);
  });

  test.after(async () => {
    await database.close();
    await nats.stop();
    await postgres.stop();
  });
} else console.log(NO_NATS);

test("the servers are stopped", () => undefined);
test.run();
