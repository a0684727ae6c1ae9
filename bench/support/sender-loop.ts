/** What keeping events costs a process that delivers, beside one that only signs and posts: each alone, with as many events. */
import { loop } from "./loop-contender.js";
import { median } from "./measure.js";
import { startWorkers } from "./queue-workers.js";
import type { Row } from "./row.js";
import { fill, ours } from "./sender-contender.js";
import type { SenderEngine } from "./sender-engines.js";

const ROUNDS = 5;

/** @returns events a second */
async function rateOf(name: string, url: string, events: number): Promise<number> {
  const workers = await startWorkers({ name, url });
  workers.begin();
  const rate = (events * 1_000) / (await workers.sent(events));
  await workers.stop();
  return rate;
}

/** Of a loop that signs and posts. @returns events a second */
export const loopRate = (live: string, events: number): Promise<number> => rateOf(loop.name, live, events);

/** A new database, and in it as many events. */
async function filled(engine: SenderEngine, live: string, events: number): Promise<string> {
  const url = await engine.place();
  await fill({ url, tasks: Array.from({ length: events }, (_, at) => ({ task: `task-${at}`, url: live })) });
  return url;
}

/** @returns beside the row, events a second */
export async function loopRows(
  engine: SenderEngine,
  { live, events }: { readonly live: string; readonly events: number },
): Promise<{ readonly rows: Row[]; readonly capacity: number }> {
  const [bare, kept]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    // Filling takes longer than both: what is compared goes right after each other, each as often first.
    const url = await filled(engine, live, events);
    const drain = async (): Promise<unknown> => kept.push(await rateOf(ours.name, url, events));
    if (round % 2 === 1) await drain();
    bare.push(await loopRate(live, events));
    if (round % 2 === 0) await drain();
  }
  const capacity = median(kept);
  const ratio = median(kept.map((rate, round) => rate / bare[round]!));
  const row: Row = {
    name: `deliveries, ${engine.name}, of a loop that signs and posts`,
    value: ratio,
    unit: "x",
    target: { min: engine.name === "sqlite" ? 0.65 : 0.7 },
    floor: { of: "a loop that signs and posts", times: 1 / ratio },
    note: `${Math.round(capacity)}/s against ${Math.round(median(bare))}/s, a process and ${events.toLocaleString("en")} events each`,
  };
  return { rows: [row], capacity };
}
