/**
 * A registry of 100,000 agents, 100,000 publishers and 1,000,000 properties, asked over HTTP: how long answers take at a
 * fixed rate, what deep pages cost, how fast an import is, how much memory it all needs; and how that grows with agents.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createRegistryData } from "../runtime/registry/data.js";
import type { AgentPublishers, AgentSearchResult, SearchFilters } from "../runtime/registry/types.js";
import { openPostgresStore } from "../runtime/store/index.js";
import { startPostgres, type TestPostgres } from "../test/support/postgres.js";
import { agentUrl, type InventorySize, publisherDomainAt, randomFrom } from "./support/inventory.js";
import { median } from "./support/measure.js";
import { closedLoop, openLoop } from "./support/open-loop.js";
import { openPlainSearch } from "./support/registry-plain.js";
import { buildProgram, done, type Program, type Served, serve } from "./support/registry-processes.js";
import type { Row } from "./support/row.js";

const SIZE = { agents: 100_000, publishers: 100_000, properties: 1_000_000 };
const CURVE_AGENTS = [1_000, 10_000, 100_000, 1_000_000];
const RATE = 200;
const REQUESTS = 2_000;
const WARM_UP = 200;
const PAGE = 50;
const MB = 1_048_576;

/** What is asked, by how much of the agents it matches. */
const classes: readonly (readonly [name: string, filters: SearchFilters])[] = [
  ["0.01 % of agents", { format_kinds: ["rare"] }],
  ["1 % of agents", { format_kinds: ["seldom"] }],
  ["30 % of agents", { format_kinds: ["common"] }],
  [
    "a rare conjunction",
    { format_kinds: ["common"], markets: ["TR"], tags: ["tag_3_1", "tag_4_2"], delivery_types: ["guaranteed"] },
  ],
  ["no filter", {}],
];

/** As docs/registry.md recommends: the defaults are for the smallest machine there is. */
const TUNED = { shared_buffers: "1GB", max_wal_size: "4GB" };

const count = (number: number): string => number.toLocaleString("en");

function searchPath(filters: SearchFilters, cursor?: string | null): string {
  const lists = Object.entries(filters).map(([name, values]) => `${name}=${(values as string[]).join(",")}`);
  return `/api/registry/agents/search?${[...lists, `limit=${PAGE}`, ...(cursor ? [`cursor=${cursor}`] : [])].join("&")}`;
}

/** Percentiles at the fixed rate, after some requests that do not count. */
async function atRate(ask: (n: number) => Promise<unknown>) {
  await openLoop(RATE, WARM_UP, ask);
  return openLoop(RATE, REQUESTS, ask);
}

async function searchRows(engine: string, server: Served): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, filters] of classes) {
    const { results } = await server.get<AgentSearchResult>(searchPath(filters));
    const measured = await atRate(() => server.read(searchPath(filters)));
    rows.push({
      name: `search, ${name}, ${engine}, p99`,
      value: measured.at(0.99),
      unit: "ms",
      target: { max: 10 },
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
    note,
  };
}

async function lookupRows(engine: string, server: Served, size: InventorySize): Promise<Row[]> {
  const random = randomFrom(11);
  const lookup = (): string =>
    `/api/registry/publisher?domain=${publisherDomainAt(Math.floor(random() * size.publishers))}`;
  const looked = await atRate(() => server.read(lookup()));
  const { publishers } = await server.get<AgentPublishers>(
    `/api/registry/agents/${encodeURIComponent(agentUrl(0))}/publishers?limit=1000`,
  );
  let properties = 0;
  const domains: string[] = [];
  for (const one of publishers) {
    if (properties >= 1_000) break;
    domains.push(one.publisher_domain);
    properties += one.properties_authorized;
  }
  const request = { agent_url: agentUrl(0), publisher_properties: [{ publisher_domains: domains }] };
  const target = "/api/registry/expand/product-identifiers";
  const { property_count } = await server.post<{ property_count: number }>(target, request);
  // Thirty a second keep one core busy with nothing but writing answers of 300 KB.
  const rate = 30;
  await openLoop(rate, 30, () => server.read(target, request));
  const expanded = await openLoop(rate, 300, () => server.read(target, request));
  return [
    {
      name: `publisher lookup, ${engine}, p99`,
      value: looked.at(0.99),
      unit: "ms",
      target: { max: 20 },
      note: `p50 ${looked.at(0.5).toFixed(1)} ms at ${RATE}/s`,
    },
    {
      name: `expansion of 1,000 properties, ${engine}, p99`,
      value: expanded.at(0.99),
      unit: "ms",
      target: { max: 20 },
      note: `p50 ${expanded.at(0.5).toFixed(1)} ms at ${rate}/s, ${property_count} properties of ${domains.length} publishers`,
    },
  ];
}

/** What is measured. */
interface Subject {
  readonly engine: "sqlite" | "postgres";
  readonly program: Program;
  readonly store: string;
  /** The inventory, as lines. */
  readonly file: string;
}

async function importRows({ engine, program, store, file }: Subject): Promise<Row[]> {
  const { properties, seconds, peak } = await done<{ properties: number; seconds: number; peak: number }>(
    program,
    "import",
    store,
    file,
  );
  return [
    {
      name: `import, ${engine}`,
      value: properties / seconds,
      unit: "/s",
      target: { min: 20_000 },
      note: `${count(properties)} properties in ${seconds.toFixed(1)} s, profiles included`,
    },
    { name: `memory of an import, ${engine}, peak`, value: peak / MB, unit: "MB", target: { max: 500 } },
  ];
}

async function engineRows(subject: Subject, size: InventorySize): Promise<Row[]> {
  const { engine, program, store } = subject;
  const rows = await importRows(subject);
  const server = await serve(program, store);
  rows.push(...(await searchRows(engine, server)));
  rows.push(await deepPages(engine, server));
  rows.push(...(await lookupRows(engine, server, size)));
  const { peak } = await server.stop();
  rows.push({
    name: `memory of a server, ${engine}, peak`,
    value: peak / MB,
    unit: "MB",
    target: { max: 500 },
    note: `the index was made in ${Math.round(server.warmMs)} ms`,
  });
  return rows;
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
    note: `${Math.round(median(a))}/s against ${Math.round(median(b))}/s, all kinds in turn`,
  };
}

interface Grown {
  readonly agents: number;
  readonly p50: number;
  readonly p99: number;
  readonly megabytes: number;
  readonly warmMs: number;
}

/** How it grows: searches of all kinds on SQLite, and memory. */
async function grown(program: Program, folder: string, agents: number): Promise<Grown> {
  const file = path.join(folder, `curve-${agents}.ndjson`);
  const store = `sqlite:${path.join(folder, `curve-${agents}.db`)}`;
  const size = { agents, publishers: agents / 10, properties: agents, seed: 3 };
  await done(program, "generate", file, JSON.stringify(size));
  await done(program, "import", store, file);
  rmSync(file);
  const server = await serve(program, store);
  const measured = await atRate((n) => server.read(searchPath(classes[n % classes.length]![1])));
  const { peak } = await server.stop();
  rmSync(store.slice("sqlite:".length));
  const { warmMs } = server;
  return { agents, p50: measured.at(0.5), p99: measured.at(0.99), megabytes: peak / MB, warmMs };
}

function curveRows(points: readonly Grown[]): Row[] {
  const line = (name: string, of: (point: Grown) => number) => ({
    name,
    points: points.map((point) => [point.agents, of(point)] as const),
  });
  const x = { label: "agents", log: true };
  const time = {
    title: "Search as the registry grows, SQLite",
    x,
    y: { label: "ms", log: true },
    lines: [line("p99", ({ p99 }) => p99), line("p50", ({ p50 }) => p50)],
  };
  const memory = {
    title: "Memory as the registry grows, SQLite",
    x,
    y: { label: "MB" },
    lines: [line("peak", ({ megabytes }) => megabytes)],
  };
  return points.map(({ agents, p50, p99, megabytes, warmMs }, at) => ({
    name: `search among ${count(agents)} agents, sqlite, p99`,
    value: p99,
    unit: "ms",
    note: `p50 ${p50.toFixed(1)} ms, ${Math.round(megabytes)} MB, index made in ${Math.round(warmMs)} ms`,
    ...(at === 0 && { curve: time }),
    ...(at === 1 && { curve: memory }),
  }));
}

const numberOf = (args: readonly string[], name: string): number | undefined => {
  const text = args.find((arg) => arg.startsWith(`--${name}=`))?.split("=")[1];
  return text === undefined ? undefined : Number(text);
};

/** @param args `--engine=sqlite|postgres` for one of them, `--agents=N` for another size, `--no-curve` */
export async function run(args: readonly string[]): Promise<Row[]> {
  const only = args.find((arg) => arg.startsWith("--engine="))?.slice("--engine=".length);
  const scale = (numberOf(args, "agents") ?? SIZE.agents) / SIZE.agents;
  const size = {
    agents: SIZE.agents * scale,
    publishers: SIZE.publishers * scale,
    properties: SIZE.properties * scale,
    seed: 1,
  };
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
  let postgres: TestPostgres | undefined;
  const rows: Row[] = [];
  try {
    const program = buildProgram(folder);
    const file = path.join(folder, "inventory.ndjson");
    await done(program, "generate", file, JSON.stringify(size));
    if (only !== "postgres")
      rows.push(
        ...(await engineRows(
          { engine: "sqlite", program, store: `sqlite:${path.join(folder, "registry.db")}`, file },
          size,
        )),
      );
    if (only !== "sqlite") {
      postgres = await startPostgres(TUNED);
      const url = await postgres.database();
      rows.push(
        ...(await engineRows({ engine: "postgres", program, store: url, file }, size)),
        await againstPlain(url),
      );
    }
    if (!args.includes("--no-curve")) {
      const points: Grown[] = [];
      for (const agents of CURVE_AGENTS.filter((one) => one <= size.agents * 10))
        points.push(await grown(program, folder, agents));
      rows.push(...curveRows(points));
    }
  } finally {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}
