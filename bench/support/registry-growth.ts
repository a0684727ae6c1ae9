/** How a registry grows with its agents: time of a search, memory, rate of an import. */
import { rmSync } from "node:fs";
import path from "node:path";
import { BARE_SERVER } from "./registry-floors.js";
import { done, type Program, serve } from "./registry-processes.js";
import { atRate, classes, searchPath } from "./registry-requests.js";
import type { Row } from "./row.js";
import type { Axis, Curve } from "./svg.js";

const MB = 1_048_576;

const count = (number: number): string => number.toLocaleString("en");

/** A registry of one size, measured. */
export interface Grown {
  readonly agents: number;
  readonly p50: number;
  readonly p99: number;
  readonly megabytes: number;
  readonly warmMs: number;
  /** Properties a second, and the largest resident set in megabytes, of the import before. */
  readonly importRate: number;
  readonly importMegabytes: number;
}

/** A registry of that many agents on SQLite: searches of all kinds, its memory, and the import before. */
export async function grown(program: Program, folder: string, agents: number): Promise<Grown> {
  const file = path.join(folder, `curve-${agents}.ndjson`);
  const store = `sqlite:${path.join(folder, `curve-${agents}.db`)}`;
  const size = { agents, publishers: agents / 10, properties: agents, seed: 3 };
  await done(program, "generate", file, JSON.stringify(size));
  const taken = await done<{ properties: number; seconds: number; peak: number }>(program, "import", store, file);
  rmSync(file);
  const server = await serve(program, store);
  const measured = await atRate(
    server,
    classes.map(([, filters]) => searchPath(filters)),
  );
  const { peak } = await server.stop();
  rmSync(store.slice("sqlite:".length));
  return {
    agents,
    p50: measured.at(0.5),
    p99: measured.at(0.99),
    megabytes: peak / MB,
    warmMs: server.warmMs,
    importRate: taken.properties / taken.seconds,
    importMegabytes: taken.peak / MB,
  };
}

/** @param bareMs what a bare server takes for its slowest hundredth, in milliseconds */
export function growthRows(points: readonly Grown[], bareMs: number): Row[] {
  const curve = (name: string, title: string, y: Axis, lines: Record<string, (point: Grown) => number>): Curve => ({
    name,
    title: `${title}, SQLite`,
    x: { label: "agents", log: true },
    y,
    lines: Object.entries(lines).map(([line, of]) => ({
      name: line,
      points: points.map((point) => [point.agents, of(point)] as const),
    })),
  });
  const curves = [
    curve(
      "search",
      "Search as the registry grows",
      { label: "latency, ms", log: true },
      {
        p99: ({ p99 }) => p99,
        p50: ({ p50 }) => p50,
      },
    ),
    curve(
      "memory",
      "Memory as the registry grows",
      { label: "largest resident set, MB" },
      {
        server: ({ megabytes }) => megabytes,
        import: ({ importMegabytes }) => importMegabytes,
      },
    ),
    curve(
      "import",
      "Import, with as many properties as agents",
      { label: "properties a second" },
      {
        import: ({ importRate }) => importRate,
      },
    ),
    curve(
      "index",
      "Making the index of the search at a start",
      { label: "time, ms", log: true },
      {
        "the whole index": ({ warmMs }) => warmMs,
      },
    ),
  ];
  return points.map(({ agents, p50, p99, megabytes, warmMs }, at) => ({
    name: `search among ${count(agents)} agents, sqlite, p99`,
    value: p99,
    unit: "ms",
    floor: { of: BARE_SERVER, times: p99 / bareMs },
    note: `p50 ${p50.toFixed(1)} ms, ${Math.round(megabytes)} MB, index made in ${Math.round(warmMs)} ms`,
    ...(at === 0 && { curves }),
  }));
}
