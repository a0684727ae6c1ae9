/**
 * The search's index alone, filled with made-up profiles: what an agent weighs in memory, and how long searches take.
 * Arguments: how many agents. Reports one line of JSON.
 */
import { AgentIndex, type IndexedProfile } from "../../runtime/registry/search/agent-index.js";
import { Scratch, select } from "../../runtime/registry/search/select.js";
import { numbers } from "../../test/support/random.js";

const agents = Number(process.argv[2]);
const random = numbers(5);
const draw = (limit: number): number => Math.floor(random() * limit);

const channels = Array.from({ length: 20 }, (_, at) => `channel-${at}`);
const types = Array.from({ length: 10 }, (_, at) => `type-${at}`);
const markets = Array.from({ length: 60 }, (_, at) => `M${at}`);
const tags = Array.from({ length: 2_000 }, (_, at) => `tag-${at}`);
const some = (values: readonly string[], most: number): string[] => [
  ...new Set(Array.from({ length: 1 + draw(most) }, () => values[Math.floor(values.length * random() ** 2)]!)),
];

const profile = (agent: number): IndexedProfile => {
  const propertyCount = Math.floor(1000 ** random());
  const hasTmp = random() < 0.1;
  return {
    agent,
    url: `https://agent-${agent}.seller-${agent % 100_000}.example/mcp`,
    registered: random() < 0.5,
    score: 0.1 * Math.log(propertyCount + 1) + (hasTmp ? 0.05 : 0),
    propertyCount,
    publisherCount: 1 + draw(20),
    hasTmp,
    taxonomy: null,
    lists: [some(channels, 3), some(types, 2), some(markets, 4), [], some(tags, 4), ["guaranteed"], []],
    updatedAt: 1,
    born: 1,
  };
};

const LOADED_AT_ONCE = 10_000;
const SEARCHES = 1_000;

const memory = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const before = memory();
const index = new AgentIndex();
const began = performance.now();
for (let at = 0; at < agents; at += LOADED_AT_ONCE)
  index.load(Array.from({ length: Math.min(LOADED_AT_ONCE, agents - at) }, (_, more) => profile(at + more + 1)));
index.sort();
const filledMs = performance.now() - began;
const bytes = (memory() - before) / agents;

const scratch = new Scratch();
const times: number[] = [];
const seq = Number.MAX_SAFE_INTEGER;
for (let at = 0; at < SEARCHES; at++) {
  const filters = {
    ...(at % 2 === 0 && { channels: some(channels, 2) }),
    ...(at % 3 === 0 && { markets: some(markets, 2) }),
    ...(at % 5 === 0 && { tags: some(tags, 2) }),
    ...(at % 7 === 0 && { has_tmp: true }),
  };
  const start = performance.now();
  select(index, { filters, after: undefined, seq, limit: 51, discovered: at % 2 === 0 }, scratch);
  times.push(performance.now() - start);
}
times.sort((a, b) => a - b);
const at = (share: number): number => times[Math.floor(share * times.length)]!;
console.log(
  JSON.stringify({ agents, bytes, filledMs, p50: at(0.5), p99: at(0.99), resident: process.memoryUsage().rss }),
);
