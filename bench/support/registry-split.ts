/** A search's index in several processes, asked through an instance: beside one process with all agents that is asked the same way. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { SearchFilters } from "../../runtime/registry/types.js";
import { Child } from "./child.js";
import { madeProfiles } from "./made-profiles.js";
import type { Latencies } from "./open-loop.js";
import { numberOf } from "./options.js";
import { BARE_SERVER, bareLatency } from "./registry-floors.js";
import { buildProgram, cpuMsOf, type Program, serve } from "./registry-processes.js";
import { PAGE, searchPath } from "./registry-requests.js";
import { FROM_SOURCE, HEAP_MB } from "./registry-writers.js";
import type { Row } from "./row.js";

const AGENTS = 10_000_000;
const SHORT_AGENTS = 200_000;
/** Searches a second, after a third of them that does not count since programs are compiled on the way: with the parts, the instance and its client on two cores. */
const RATE = 50;
const SEARCHES = 3_000;
const SHORT_SEARCHES = 500;
const DIFFERENT_SEARCHES = 1_000;
/** About the bytes of a page. */
const PAGE_BYTES = 20_000;
const TOKEN = "the-token-of-a-bench";
/** No search is given up: what a busy machine makes late is to be seen as late. In milliseconds. */
const DEADLINE_MS = 7_000;
const KB = 1_000;

interface Filled {
  readonly agents: number;
  /** Of an agent, without the program. */
  readonly bytes: number;
  readonly filledMs: number;
  /** Of the process, in bytes. */
  readonly resident: number;
  readonly address: string;
}

interface Place {
  readonly program: Program;
  readonly folder: string;
  /** Searches. */
  readonly count: number;
}

interface Measured {
  readonly latency: Latencies;
  /** Processor time of a search, in the instance and in all parts together. */
  readonly instanceMs: number;
  readonly partsMs: number;
  readonly parts: readonly Filled[];
}

/** Fills so many processes, and measures searches among what they hold. */
async function measured(place: Place, agents: number, of: number): Promise<Measured> {
  const flags = ["--expose-gc", "--max-semi-space-size=16", `--max-old-space-size=${HEAP_MB}`];
  const file = path.join(import.meta.dirname, "registry-index-child.ts");
  const filling = Array.from(
    { length: of },
    (_, at) => new Child([...flags, ...FROM_SOURCE, file, String(agents), `${at + 1}/${of}`, TOKEN]),
  );
  try {
    return await asked(place, filling);
  } finally {
    for (const child of filling) await child.end();
  }
}

/** Asks an instance that asks these processes. */
async function asked({ program, folder, count }: Place, filling: readonly Child[]): Promise<Measured> {
  const parts = await Promise.all(filling.map((child) => child.report<Filled>()));
  const searchParts = { urls: parts.map(({ address }) => address), token: TOKEN, deadlineMs: DEADLINE_MS };
  const server = await serve(program, `sqlite:${path.join(folder, `${parts.length}.db`)}`, searchParts);
  const made = madeProfiles(99, 0);
  const filters = Array.from({ length: DIFFERENT_SEARCHES }, (_, at): SearchFilters => made.filters(at));
  const requests = filters.map((one) => ({ path: searchPath(one) }));
  const first = await server.get<{ results: unknown[]; missing_parts?: string[] }>(searchPath({}));
  if (first.results.length !== PAGE || first.missing_parts !== undefined) throw new Error("a part is missing");
  await server.client.measure({ rate: RATE, count: count / 3, requests });
  const taken = (): number[] => [server.cpuMs(), sum(filling.map(cpuMsOf))];
  const before = taken();
  const latency = await server.client.measure({ rate: RATE, count, requests });
  const [instanceMs, partsMs] = taken().map((ms, at) => (ms - before[at]!) / count) as [number, number];
  await server.stop();
  return { latency, parts, instanceMs, partsMs };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** @param args `--split=N` says in how many processes, beside one; `--short` is fewer agents */
export async function splitRows(args: readonly string[]): Promise<Row[]> {
  const [of, short] = [numberOf(args, "split")!, args.includes("--short")];
  const [agents, count] = short ? [SHORT_AGENTS, SHORT_SEARCHES] : [AGENTS, SEARCHES];
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
  try {
    const bare = await bareLatency({ bytes: PAGE_BYTES, rate: RATE, requests: 400 });
    const program = buildProgram(folder);
    const rows: Row[] = [];
    for (const processes of of === 1 ? [1] : [1, of]) {
      const { latency, parts, instanceMs, partsMs } = await measured({ program, folder, count }, agents, processes);
      const bytes = sum(parts.map((one) => one.bytes * one.agents)) / agents;
      const resident = sum(parts.map((one) => one.resident)) / 2 ** 30;
      const filled = Math.max(...parts.map(({ filledMs }) => filledMs)) / 1_000;
      const taken = `${instanceMs.toFixed(1)} ms of processor in the instance and ${partsMs.toFixed(1)} ms in the index`;
      const where = `${agents.toLocaleString("en")} agents in ${processes === 1 ? "one process" : `${processes} processes`}`;
      rows.push(
        {
          name: `search among ${where}, through an instance, p99`,
          value: latency.at(0.99),
          unit: "ms",
          target: { max: 10 },
          floor: { of: BARE_SERVER, times: latency.at(0.99) / bare },
          note: `p50 ${latency.at(0.5).toFixed(1)} ms, p90 ${latency.at(0.9).toFixed(1)} ms at ${RATE}/s, ${taken} each`,
        },
        {
          name: `an agent in the index, ${where}`,
          value: bytes / KB,
          unit: "KB",
          floor: { none: "a bound on what one machine has" },
          note: `${Math.round(bytes)} bytes, ${resident.toFixed(1)} GiB resident in all, filled in ${Math.round(filled)} s`,
        },
      );
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
