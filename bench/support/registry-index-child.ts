/**
 * The search's index alone, filled with made-up profiles: what an agent weighs in memory, and how long searches take.
 * Arguments: how many agents. Reports one line of JSON. With a part, such as `2/4`, and a token it holds the agents of that
 * part and serves them until its input ends; the line has its address.
 */
import { once } from "node:events";
import { pino } from "pino";
import { AgentIndex } from "../../runtime/registry/search/agent-index.js";
import { readPart } from "../../runtime/registry/search/part-wire.js";
import { Scratch, select } from "../../runtime/registry/search/select.js";
import { servePart } from "../../runtime/registry/server/part-app.js";
import { madeProfiles } from "./made-profiles.js";

const [number, part, token] = process.argv.slice(2) as [string, string?, string?];
const agents = Number(number);
const own = readPart(part ?? "1/1")!;
// An instance that asks has an empty database, whose clock stands at 0.
const made = madeProfiles(4 + own.part, part === undefined ? 1 : 0);

const LOADED_AT_ONCE = 10_000;
const SEARCHES = 1_000;

const memory = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/** As statements choose them (runtime/store/registry-profiles.ts). */
const isOwn = (agent: number): boolean =>
  Math.floor(((agent % 1_000_003) * 2_654_435_761) / 65_536) % own.of === own.part - 1;

function* ownAgents(): Generator<number> {
  for (let agent = 1; agent <= agents; agent++) if (isOwn(agent)) yield agent;
}

const before = memory();
const index = new AgentIndex();
const began = performance.now();
let batch: number[] = [];
const load = (): void => {
  index.load(batch.map(made.profile));
  batch = [];
};
for (const agent of ownAgents()) if (batch.push(agent) === LOADED_AT_ONCE) load();
load();
index.sort();
const filledMs = performance.now() - began;
const bytes = (memory() - before) / index.size;

/** How long searches take, without a server. */
function searched(): object {
  const scratch = new Scratch();
  const times: number[] = [];
  const seq = Number.MAX_SAFE_INTEGER;
  for (let at = 0; at < SEARCHES; at++) {
    const filters = made.filters(at);
    const start = performance.now();
    select(index, { filters, after: undefined, seq, limit: 51, discovered: at % 2 === 0 }, scratch);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(share * times.length)]!;
  return { p50: at(0.5), p99: at(0.99) };
}

const report = (more: object): void =>
  console.log(JSON.stringify({ agents: index.size, bytes, filledMs, resident: process.memoryUsage().rss, ...more }));

if (part === undefined || token === undefined) report(searched());
else {
  const clock = { seq: 0, last: 0, pruned: 0, revision: 0 };
  const followed = { ...clock, size: index.size, current: async () => index, identity: async () => undefined };
  const served = await servePart(followed, { part, token, logger: pino({ level: "silent" }) });
  report({ address: await served.listen({ port: 0 }) });
  process.stdin.resume();
  await once(process.stdin, "end");
  await served.stop();
}
