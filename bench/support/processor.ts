/** Processor time of other processes, read from /proc: Linux only. */
import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";

/** A tick of /proc, in milliseconds: Linux counts a hundred a second, whatever the machine. */
const TICK_MS = 10;

interface Stat {
  readonly parent: number;
  /** Milliseconds of its own, and of children that have ended. */
  readonly ownMs: number;
  readonly endedMs: number;
}

function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // A name may have blanks and brackets; what follows its last bracket has none.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const ms = (at: number): number => Number(fields[at]) * TICK_MS;
    return { parent: Number(fields[1]), ownMs: ms(11) + ms(12), endedMs: ms(13) + ms(14) };
  } catch {
    return undefined;
  }
}

/** @returns reads the processor milliseconds that the server and all its processes have taken */
export async function serverProcessor(url: string): Promise<() => number> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const server = statOf(rows[0]!.pid)?.parent;
  await client.end();
  if (server === undefined) throw new Error("/proc does not say who started the database's processes");
  return () => {
    const { ownMs, endedMs } = statOf(server)!;
    const children = readdirSync("/proc").flatMap((name) => {
      const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
      return stat?.parent === server ? [stat.ownMs + stat.endedMs] : [];
    });
    return children.reduce((sum, ms) => sum + ms, ownMs + endedMs);
  };
}
