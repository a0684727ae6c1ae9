/** Crawls written by one instance and by two, on one PostgreSQL; and the search's index with ten million agents. */
import path from "node:path";
import { openPostgresStore } from "../../runtime/store/index.js";
import type { TestPostgres } from "../../test/support/postgres.js";
import { Child } from "./child.js";
import type { Row } from "./row.js";

const CRAWLS = 400;
const AGENTS = 10_000_000;
/** What the index of ten million takes is beyond V8's usual heap, in megabytes. */
export const HEAP_MB = 9_000;

/** What a process runs under that is not compiled. */
export const FROM_SOURCE = [
  "--import",
  path.resolve(import.meta.dirname, "../../test/runner/sources.mjs"),
  "--conditions=adbind-source",
];
const child = (name: string, args: readonly string[], flags: readonly string[] = []): Child =>
  new Child([...flags, ...FROM_SOURCE, path.join(import.meta.dirname, name), ...args]);

/** @returns crawls a second of so many instances together */
async function written(postgres: TestPostgres, instances: number): Promise<number> {
  const url = await postgres.database();
  await (await openPostgresStore({ url })).close();
  const writers = Array.from({ length: instances }, (_, at) =>
    child("registry-writer-child.ts", [url, `instance-${at}`, String(CRAWLS / instances)]),
  );
  for (const writer of writers) await writer.report();
  for (const writer of writers) writer.send({});
  const reports = await Promise.all(writers.map((writer) => writer.report<{ seconds: number }>()));
  for (const writer of writers) await writer.end();
  return CRAWLS / Math.max(...reports.map(({ seconds }) => seconds));
}

/** Two instances with half of the crawls each, beside one with all: that they do not meet on one row. */
export async function writerRows(postgres: TestPostgres): Promise<Row[]> {
  const [one, two] = [await written(postgres, 1), await written(postgres, 2)];
  return [
    {
      name: "crawls written by two instances, postgres",
      value: two,
      unit: "/s",
      floor: { none: "what one instance writes stands in the note" },
      note: `${(two / one).toFixed(2)} of one instance's ${Math.round(one)} crawls/s`,
    },
  ];
}

interface Filled {
  readonly agents: number;
  readonly bytes: number;
  readonly filledMs: number;
  readonly p50: number;
  readonly p99: number;
}

/** Ten million agents in one process: the index alone, without a server and a database. */
export async function millionsRows(): Promise<Row[]> {
  const flags = ["--expose-gc", `--max-old-space-size=${HEAP_MB}`];
  const filling = child("registry-index-child.ts", [String(AGENTS)], flags);
  const { bytes, filledMs, p50, p99 } = await filling.report<Filled>();
  await filling.end();
  return [
    {
      name: `search among ${AGENTS.toLocaleString("en")} agents, the index alone, p99`,
      value: p99,
      unit: "ms",
      floor: { none: "nothing beside the index takes part" },
      note: `p50 ${p50.toFixed(1)} ms, ${Math.round(bytes)} bytes an agent, filled in ${Math.round(filledMs / 1000)} s`,
    },
  ];
}
