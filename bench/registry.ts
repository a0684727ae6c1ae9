/**
 * A registry of 100,000 agents, 100,000 publishers and 1,000,000 properties, asked over HTTP: how long answers take at a
 * fixed rate, what deep pages cost, how fast an import is, how much memory it all needs; and how that grows with agents.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createRegistryData } from "../runtime/registry/data.js";
import type { AgentSearchResult } from "../runtime/registry/types.js";
import { openPostgresStore } from "../runtime/store/index.js";
import { startPostgres, type TestPostgres } from "../test/support/postgres.js";
import { numbers } from "../test/support/random.js";
import { type InventorySize, publisherDomainAt } from "./support/inventory.js";
import { median } from "./support/measure.js";
import { closedLoop, type Latencies, pooled } from "./support/open-loop.js";
import { numberOf } from "./support/options.js";
import { BARE_SERVER, bareLatency, PLAIN_IMPORT, plainImport, tidied } from "./support/registry-floors.js";
import { followerRows } from "./support/registry-followers.js";
import { type Grown, grown, growthRows } from "./support/registry-growth.js";
import { openPlainSearch } from "./support/registry-plain.js";
import { buildProgram, done, type Program, type Served, serve } from "./support/registry-processes.js";
import { atRate, classes, expansions, PAGE, RATE, REQUESTS, searchPath } from "./support/registry-requests.js";
import { splitRows } from "./support/registry-split.js";
import { millionsRows, writerRows } from "./support/registry-writers.js";
import type { Row } from "./support/row.js";

const SIZE = { agents: 100_000, publishers: 100_000, properties: 1_000_000 };
const CURVE_AGENTS = [1_000, 10_000, 100_000, 1_000_000];
const MB = 1_048_576;

/** Properties that the plain import takes: enough to know its rate. */
const PLAIN_PROPERTIES = 200_000;
/** About the bytes of a page of the search, and of an expansion of 1,000 properties. */
const PAGE_BYTES = 50_000;
const EXPANSION_BYTES = 300_000;
/** Thirty a second keep one core busy with nothing but writing answers of 300 KB. */
const EXPANSION_RATE = 30;
/**
 * An inventory has a hundred expansions of different publishers, and a server is asked for each once; so there are some
 * servers, one after the other. Five of them made a slowest hundredth of five requests, about as many as a machine like
 * this one stalls for a while whatever is asked: the figure was the luck of the run.
 */
const EXPANSION_SERVERS = 10;
/** For each of them. The first hundreds of requests compile the program on the way, which is no matter of expansions. */
const EXPANSIONS_WARM_UP = 200;
const EXPANSION_RATE_WARM_UP = 60;
const EXPANSIONS_AGAIN = 300;

/** As docs/registry.md recommends: the defaults are for the smallest machine there is. */
const TUNED = { shared_buffers: "1GB", max_wal_size: "4GB" };

const BOUND = { none: "a bound on what one machine has" };

const count = (number: number): string => number.toLocaleString("en");

/** What is measured. */
interface Subject {
  readonly engine: "sqlite" | "postgres";
  readonly program: Program;
  readonly store: string;
  /** The inventory, as lines. */
  readonly file: string;
  readonly followersOnly: boolean;
  /** What a bare server takes for its slowest hundredth, in milliseconds. */
  readonly bare: { readonly pageMs: number; readonly expansionMs: number };
}

async function searchRows({ engine, bare }: Subject, server: Served): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, filters] of classes) {
    const { results } = await server.get<AgentSearchResult>(searchPath(filters));
    const measured = await atRate(server, [searchPath(filters)]);
    rows.push({
      name: `search, ${name}, ${engine}, p99`,
      value: measured.at(0.99),
      unit: "ms",
      target: { max: 10 },
      floor: { of: BARE_SERVER, times: measured.at(0.99) / bare.pageMs },
      note: `p50 ${measured.at(0.5).toFixed(1)} ms at ${RATE}/s, ${results.length} results`,
    });
  }
  return rows;
}

/** Walks through everything; the last hundred pages against the first. */
async function deepPages(engine: string, server: Served): Promise<Row> {
  const times: number[] = [];
  let cursor: string | null = null;
  do {
    const started = performance.now();
    const page: AgentSearchResult = await server.get(searchPath({}, cursor));
    times.push(performance.now() - started);
    cursor = page.cursor;
  } while (cursor !== null);
  const part = Math.min(100, Math.floor(times.length / 3));
  const [first, last] = [median(times.slice(5, part + 5)), median(times.slice(-part))];
  const note = `${last.toFixed(2)} ms against ${first.toFixed(2)} ms, ${count(times.length)} pages`;
  return {
    name: `a deep page, ${engine}, of the first ones`,
    value: last / first,
    unit: "x",
    target: { max: 1.5 },
    floor: { of: "a first page", times: last / first },
    note,
  };
}

async function lookupRow({ engine, bare }: Subject, server: Served, size: InventorySize): Promise<Row> {
  const random = numbers(11);
  const lookup = (): string =>
    `/api/registry/publisher?domain=${publisherDomainAt(Math.floor(random() * size.publishers))}`;
  const looked = await atRate(server, Array.from({ length: REQUESTS }, lookup));
  return {
    name: `publisher lookup, ${engine}, p99`,
    value: looked.at(0.99),
    unit: "ms",
    target: { max: 20 },
    floor: { of: BARE_SERVER, times: looked.at(0.99) / bare.pageMs },
    note: `p50 ${looked.at(0.5).toFixed(1)} ms at ${RATE}/s`,
  };
}

interface Expanded {
  readonly first: Latencies;
  readonly again: Latencies;
}

/** Expansions that nobody asked for before, and some of them again and again: the registry keeps what it made. */
async function expand(server: Served, size: InventorySize): Promise<Expanded> {
  const { disjoint: requests, others } = await expansions(server, size.publishers, EXPANSIONS_WARM_UP);
  const { client } = server;
  await client.measure({ rate: EXPANSION_RATE_WARM_UP, count: others.length, requests: others });
  const warmUp = requests.splice(0, Math.ceil(requests.length / 5));
  const rate = EXPANSION_RATE;
  await client.measure({ rate, count: warmUp.length, requests: warmUp });
  const first = await client.measure({ rate, count: requests.length, requests });
  const again = await client.measure({ rate, count: EXPANSIONS_AGAIN, requests: warmUp });
  return { first, again };
}

function expansionRows({ engine, bare }: Subject, expanded: readonly Expanded[]): Row[] {
  const row = (which: string, measured: Latencies): Row => ({
    name: `expansion of 1,000 properties, ${which}, ${engine}, p99`,
    value: measured.at(0.99),
    unit: "ms",
    target: { max: 20 },
    floor: { of: BARE_SERVER, times: measured.at(0.99) / bare.expansionMs },
    note: `p50 ${measured.at(0.5).toFixed(1)} ms at ${EXPANSION_RATE}/s, ${count(measured.count)} requests to ${expanded.length} servers`,
  });
  return [
    row("for the first time", pooled(expanded.map(({ first }) => first))),
    row("asked again", pooled(expanded.map(({ again }) => again))),
  ];
}

interface Taken {
  readonly properties: number;
  readonly seconds: number;
  /** Bytes. */
  readonly peak: number;
}

/** @param plain properties a second of an import that only stores */
function importRows(engine: string, { properties, seconds, peak }: Taken, plain: number): Row[] {
  return [
    {
      name: `import, ${engine}`,
      value: properties / seconds,
      unit: "/s",
      target: { min: 20_000 },
      floor: { of: PLAIN_IMPORT, times: (plain * seconds) / properties },
      note: `${count(properties)} properties in ${seconds.toFixed(1)} s, profiles included`,
    },
    { name: `memory of an import, ${engine}, peak`, value: peak / MB, unit: "MB", target: { max: 500 }, floor: BOUND },
  ];
}

async function engineRows(subject: Subject, size: InventorySize): Promise<Row[]> {
  const { engine, program, store, file } = subject;
  const taken = await done<Taken>(program, "import", store, file);
  await tidied(store);
  const server = await serve(program, store);
  if (subject.followersOnly) {
    const rows = await followerRows(subject, server, size);
    await server.stop();
    return rows;
  }
  const rows = await searchRows(subject, server);
  rows.push(await deepPages(engine, server));
  rows.push(await lookupRow(subject, server, size));
  const expanded = [await expand(server, size)];
  let { peak } = await server.stop();
  while (expanded.length < EXPANSION_SERVERS) {
    const another = await serve(program, store);
    expanded.push(await expand(another, size));
    peak = Math.max(peak, (await another.stop()).peak);
  }
  rows.push(...expansionRows(subject, expanded));
  // A server of its own, after the others: these keep many answers, and what they ask is no part of a server's usual memory.
  const following = await serve(program, store);
  rows.push(...(await followerRows(subject, following, size)));
  await following.stop();
  rows.push({
    name: `memory of a server, ${engine}, peak`,
    value: peak / MB,
    unit: "MB",
    target: { max: 500 },
    floor: BOUND,
    note: `the index was made in ${Math.round(server.warmMs)} ms`,
  });
  // Last: what a database has to tidy up after it falls on nobody.
  return [...importRows(engine, taken, await plainImport(store, file, PLAIN_PROPERTIES)), ...rows];
}

/** Both designs asked the same on the same PostgreSQL, without HTTP, by eight callers at a time. */
async function againstPlain(url: string): Promise<Row> {
  const callers = 8;
  const plain = await openPlainSearch(url, callers);
  const store = await openPostgresStore({ url, connections: callers });
  const data = createRegistryData(store);
  await data.warm();
  const ask = (n: number) => data.search(classes[n % classes.length]![1], { limit: PAGE });
  const askPlain = (n: number) => plain.search(classes[n % classes.length]![1], PAGE);
  for (const [name, filters] of classes) {
    const ours = await data.search(filters, { limit: PAGE });
    const theirs = await plain.search(filters, PAGE);
    if (!ours.ok || ours.value.results.length !== theirs.length) throw new Error(`the designs differ on ${name}`);
  }
  const [a, b]: [number[], number[]] = [[], []];
  for (let round = 0; round < 3; round++) {
    a.push(await closedLoop(callers, 2_000, ask));
    b.push(await closedLoop(callers, 200, askPlain));
  }
  await plain.close();
  await store.close();
  return {
    name: "searches, postgres, of the plain design's",
    value: median(a) / median(b),
    unit: "x",
    target: { min: 5 },
    floor: { none: "another design, which is no floor" },
    note: `${Math.round(median(a))}/s against ${Math.round(median(b))}/s, all kinds in turn`,
  };
}

/** A part that needs no inventory, alone. */
async function partsAlone(args: readonly string[]): Promise<Row[] | undefined> {
  if (args.includes("--millions")) return millionsRows();
  if (numberOf(args, "split") !== undefined) return splitRows(args);
  if (!args.includes("--writers")) return undefined;
  const postgres = await startPostgres(TUNED);
  try {
    return await writerRows(postgres);
  } finally {
    await postgres.stop();
  }
}

/** @param args `--writers`, `--millions` or `--split=N` for those rows alone (`--short` with the last for fewer agents), `--engine=sqlite|postgres` for one of them, `--agents=N` for another size, `--no-curve`, `--followers` for those rows alone */
export async function run(args: readonly string[]): Promise<Row[]> {
  const alone = await partsAlone(args);
  if (alone !== undefined) return alone;
  const only = args.find((arg) => arg.startsWith("--engine="))?.slice("--engine=".length);
  const scale = (numberOf(args, "agents") ?? SIZE.agents) / SIZE.agents;
  const [agents, publishers, properties] = [SIZE.agents, SIZE.publishers, SIZE.properties].map((one) => one * scale);
  const size = { agents: agents!, publishers: publishers!, properties: properties!, seed: 1 };
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
  let postgres: TestPostgres | undefined;
  const rows: Row[] = [];
  try {
    const bare = {
      pageMs: await bareLatency({ bytes: PAGE_BYTES, rate: RATE, requests: 400 }),
      expansionMs: await bareLatency({ bytes: EXPANSION_BYTES, rate: EXPANSION_RATE, requests: 100 }),
    };
    const program = buildProgram(folder);
    const file = path.join(folder, "inventory.ndjson");
    await done(program, "generate", file, JSON.stringify(size));
    const common = { program, file, bare, followersOnly: args.includes("--followers") };
    const sqlite = { ...common, engine: "sqlite", store: `sqlite:${path.join(folder, "registry.db")}` } as const;
    if (only !== "postgres") rows.push(...(await engineRows(sqlite, size)));
    if (only !== "sqlite") {
      postgres = await startPostgres(TUNED);
      const url = await postgres.database();
      rows.push(
        ...(await engineRows({ ...common, engine: "postgres", store: url }, size)),
        ...(common.followersOnly ? [] : [await againstPlain(url), ...(await writerRows(postgres))]),
      );
    }
    if (!args.includes("--no-curve") && !common.followersOnly) {
      const points: Grown[] = [];
      for (const agents of CURVE_AGENTS.filter((one) => one <= size.agents * 10))
        points.push(await grown(program, folder, agents));
      rows.push(...growthRows(points, bare.pageMs), ...(await millionsRows()));
    }
  } finally {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}
