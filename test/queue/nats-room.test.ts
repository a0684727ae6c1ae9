/** On NATS, events whose tickets come where there is no room for them: they keep nobody waiting, and none is lost. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { sortTickets } from "../../runtime/queue/nats/sorted.js";
import { hasNats, NO_NATS, startNats } from "../support/nats.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { type NatsGround, openedOn, takenOf } from "./nats-ground.js";
import { job, put } from "./queue-suite.js";

test("a ticket without room goes back to the stream once, and then to the relays; a double is one too many", () => {
  const ticket = (id: number, deliveries: number, endpoint = "dead") => ({
    ...{ job: id, endpoint, deliveries, reply: `$JS.ACK.${id}` },
  });
  const tickets = [ticket(1, 1), ticket(2, 2), ticket(3, 1, "well"), ticket(3, 2, "well"), ticket(4, 3, "well")];
  const { byJob, doubles, back, toRelay } = sortTickets(tickets, (endpoint) => (endpoint === "well" ? 1 : 0));
  const ids = (all: readonly { readonly job: number }[]): number[] => all.map(({ job: id }) => id);
  assert.equal([[...byJob.keys()], ids(doubles), ids(back), ids(toRelay)], [[3], [3], [1], [2, 4]]);
});

function roomTest(ground: NatsGround): void {
  test("retries of an endpoint that has no room, due by the hundred, keep nobody else's waiting", async () => {
    const { queue, database, close } = await openedOn(ground);
    const RETRIES = 600;
    await put(queue, ...Array.from({ length: RETRIES }, () => job({ endpoint: "dead" })));
    const due = Date.now() + 4_000;
    for (let failed = 0; failed < RETRIES; ) {
      const jobs = await queue.take({ now: Date.now(), limit: RETRIES, room: () => RETRIES });
      failed += jobs.length;
      const acks = jobs.map((one) => ({ job: one, outcome: { kind: "later", due, error: "503" } }) as const);
      await queue.ack(acks, Date.now());
    }
    await until(() => Date.now() > due + 1_000);
    const found: string[] = [];
    const look = async (): Promise<boolean> => {
      const room = (endpoint: string): number => (endpoint === "dead" ? 0 : 10);
      found.push(...(await queue.take({ now: Date.now(), limit: 16, room })).map(({ key }) => key));
      return found.length > 0;
    };
    // After the first looks they have gone back once: what goes back to the stream is given out before what comes.
    for (let looks = 0; looks < 3; looks++) await look();
    await put(queue, job({ endpoint: "well", key: "other" }));
    await until(look, undefined, { limitMs: 10_000, stepMs: 200 });
    assert.equal(found, ["other"]);
    // None of them is lost: with room again they come, however their tickets went.
    const back: string[] = [];
    await until(async () => {
      back.push(...(await queue.take({ now: Date.now(), limit: 50, room: () => 50 })).map(({ endpoint }) => endpoint));
      return back.length === RETRIES;
    });
    assert.equal(new Set(back), new Set(["dead"]));
    const ready = await database.query((q) => q.rows<{ n: number }>("select count(*) as n from adbind_jobs"));
    assert.equal(ready, [{ n: RETRIES + 1 }]);
    await close();
  });
}

function killedTest(ground: NatsGround): void {
  test("what a killed deliverer held comes back once its lease is over, also where others have room for little of it", async () => {
    const { queue, other, close } = await openedOn(ground);
    const survivor = await other();
    const COUNT = 12;
    await put(queue, ...Array.from({ length: COUNT }, () => job({ endpoint: "busy" })));
    let held = 0;
    await until(async () => {
      held += (await takenOf(queue)).length;
      return held === COUNT;
    });
    // It says no more of them. The other one has no room when their tickets come again, and then a little.
    const begun = performance.now();
    let done = 0;
    const look = async (): Promise<boolean> => {
      const room = performance.now() - begun < 5_000 ? 0 : 2;
      const jobs = await survivor.take({ now: Date.now(), limit: 8, room: () => room });
      const acks = jobs.map((one) => ({ job: one, outcome: { kind: "done" } }) as const);
      await survivor.ack(acks, Date.now());
      done += jobs.length;
      return done === COUNT;
    };
    await until(look, "all are taken", { limitMs: 15_000, stepMs: 100 });
    await close();
  });
}

if (hasNats()) {
  const [postgres, nats] = await Promise.all([sharedPostgres(), startNats()]);
  const ground: NatsGround = { postgres, nats };
  roomTest(ground);
  killedTest(ground);
  test.after(async () => {
    await nats.stop();
    await postgres.stop();
  });
} else console.log(NO_NATS);

test.run();
