/**
 * Resident memory of a receiver over many events: `receiver-memory.ts <events> <database file>`. Signs, receives and
 * handles in one process, so that nothing but the receiver can grow; prints samples as JSON.
 */
import { pino } from "pino";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { createReceiver } from "../../runtime/receiver/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { progressOf } from "./progress.js";
import { keySource, makeKeys, PUBLIC_URL, ROUTE, SENDER, signedEvent } from "./receiver-events.js";

const [events, file] = process.argv.slice(2) as [string, string];
const total = Number(events);
const BATCH = 64;
/** Events a second of the receiver's clock: its nonces expire as they would at that rate. */
const RATE = 250;
const SAMPLES = 200;
/** Lines told of how far it is. */
const TOLD = 10;

const { privateKey, jwk } = makeKeys();
let handled = 0;
const start = 1_795_253_400_000;
let ms = start;
// A small page cache is full after the warm-up; the default one would still be filling and look like a leak.
const store = openSqliteStore({ path: file, cacheKib: 4_096 });
// What waits for the disk holds no more memory for it, and a run that waits is no run of many events.
store.db.pragma("synchronous = off");
const receiver = createReceiver({
  store,
  release: release as Release,
  senders: { [SENDER]: { keys: keySource(jwk) } },
  publicUrl: PUBLIC_URL,
  senderCap: 100_000_000,
  now: () => ms,
  logger: pino({ level: "error" }),
  handlers: {
    fallback: () => {
      handled += 1;
    },
  },
});
await receiver.expect({ route: ROUTE, sender: SENDER, kind: "task" });
receiver.start();

const tell = progressOf("memory");
const samples: { events: number; rss: number }[] = [];
const every = Math.max(BATCH, Math.floor(total / SAMPLES / BATCH) * BATCH);
// The warm-up is a burst: what a heap grows to under pressure is then reached, and not mistaken for a leak later.
const batchAt = (done: number): number => (done < total / 10 ? 8 * BATCH : BATCH);
let next = 0;
for (let done = 0, batch = batchAt(0); done < total; done += batch, batch = batchAt(done)) {
  ms = start + Math.floor((done / RATE) * 1000);
  const answers = await Promise.all(
    Array.from({ length: batch }, () => {
      const { headers, body } = signedEvent(privateKey, { nowSeconds: Math.floor(ms / 1000) });
      return receiver.handle({ method: "POST", target: ROUTE, headers, body });
    }),
  );
  const refused = answers.find((answer) => answer.status !== 200);
  if (refused !== undefined) throw new Error(refused.body);
  if (done >= next) {
    samples.push({ events: done, rss: process.memoryUsage().rss });
    next += every;
    if (samples.length % (SAMPLES / TOLD) === 0)
      tell(`${done.toLocaleString("en")} of ${total.toLocaleString("en")} events`);
  }
}
await receiver.idle();
await receiver.stop();
console.log(JSON.stringify({ handled, samples }));
