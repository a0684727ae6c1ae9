/** What adding to a queue and taking from it cost as a backlog grows, and the memory that it needs. */
import path from "node:path";
import { fromSource } from "../../test/runner/from-source.js";
import { Child } from "./child.js";
import type { Row } from "./row.js";
import type { SenderEngine } from "./sender-engines.js";

/** Jobs that wait, and what was measured then. */
export type Point = readonly [waiting: number, value: number];

export interface Grown {
  /** Microseconds of each job that is added. */
  readonly enqueue: readonly Point[];
  /** Jobs a second. */
  readonly drain: readonly Point[];
  /** Resident megabytes of this process. */
  readonly memory: readonly Point[];
}

export interface Beside {
  readonly enqueue: Record<"deep" | "short", number>;
  readonly drain: Record<"deep" | "short", number>;
}

export interface Measured {
  readonly grown: Grown;
  readonly beside: Beside;
}

/** Where a process finds new databases of an engine. */
type Places = Pick<SenderEngine, "name" | "place">;

async function measured(engine: Places, total: number): Promise<Measured> {
  const file = path.join(import.meta.dirname, "sender-backlog-child.ts");
  const child = new Child([...fromSource, file, String(total), await engine.place(), await engine.place()]);
  const found = await child.report<Measured>();
  await child.end();
  return found;
}

const names: Readonly<Record<string, string>> = { sqlite: "SQLite", postgres: "PostgreSQL" };

/** @param total jobs that wait at the end; a multiple of 100 */
export async function backlogRows(engine: Places, total: number): Promise<Row[]> {
  const { grown, beside } = await measured(engine, total);
  const size = total.toLocaleString("en");
  const curve = (name: string, what: string, label: string, points: readonly Point[]) => ({
    name: `${name}-${engine.name}`,
    title: `${what} as a backlog grows, ${names[engine.name]}`,
    x: { label: "jobs waiting" },
    y: { label },
    lines: [{ name, points }],
  });
  return [
    {
      name: `enqueue at ${size}, ${engine.name}, of a short queue`,
      value: beside.enqueue.deep / beside.enqueue.short,
      unit: "x",
      target: { max: 2 },
      floor: { of: "a short queue", times: beside.enqueue.deep / beside.enqueue.short },
      note: `${beside.enqueue.deep.toFixed(1)} and ${beside.enqueue.short.toFixed(1)} us each`,
      curves: [curve("enqueue", "Adding a job", "each, microseconds", grown.enqueue)],
    },
    {
      name: `drain at ${size}, ${engine.name}, of a short queue`,
      value: beside.drain.deep / beside.drain.short,
      unit: "x",
      target: { min: 0.5 },
      floor: { of: "a short queue", times: beside.drain.short / beside.drain.deep },
      note: `${Math.round(beside.drain.deep)}/s and ${Math.round(beside.drain.short)}/s`,
      curves: [curve("drain", "Taking and settling jobs", "jobs a second", grown.drain)],
    },
    {
      name: `memory for a backlog of ${size}, ${engine.name}`,
      value: grown.memory.at(-1)![1] - grown.memory[0]![1],
      unit: "MB",
      target: { max: 150 },
      floor: { none: "a difference, and nothing need be gained" },
      note: "RSS, page cache of SQLite included, of a process that has drained a short queue before",
      curves: [curve("memory", "Memory", "resident set, MB", grown.memory)],
    },
  ];
}
