/** What the faults runs of a registry share: a folder and a database, processes to kill, and a last count. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { createRegistryData } from "../../runtime/registry/data.js";
import { fromSource } from "../runner/from-source.js";
import type { Plan } from "./registry-child.js";
import { type Engine, type FaultsDatabase, openFaultsDatabase } from "./registry-database.js";

export interface FaultsLedger {
  readonly engine: Engine;
  readonly kills: number;
  /** Crawls asked for and acknowledged; lines of the import. */
  readonly told: number;
  readonly seconds: number;
  /** Empty when everything held. */
  readonly faults: readonly string[];
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Processes by name, and what they say. */
export class Children {
  readonly #alive = new Map<string, ChildProcess>();
  #count = 0;

  constructor(readonly onLine: (line: string, name: string) => void) {}

  spawn(plan: Omit<Plan, "name">): Promise<number | null> {
    this.#count += 1;
    const name = `r${this.#count}`;
    const file = path.join(import.meta.dirname, "registry-child.ts");
    const child = spawn(process.execPath, [...fromSource, file, JSON.stringify({ ...plan, name })], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#alive.set(name, child);
    createInterface(child.stdout!).on("line", (line) => this.onLine(line, name));
    return once(child, "exit").then(([code]) => {
      this.#alive.delete(name);
      return code as number | null;
    });
  }

  /** False when there is none of that name any more. */
  kill(name: string): boolean {
    const child = this.#alive.get(name);
    this.#alive.delete(name);
    return child?.kill("SIGKILL") ?? false;
  }

  async killAll(): Promise<void> {
    for (const name of [...this.#alive.keys()]) this.kill(name);
    await pause(200);
  }
}

export async function inFolder<T>(engine: Engine, run: (db: FaultsDatabase, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-registry-faults-"));
  const db = await openFaultsDatabase(engine, folder);
  try {
    return await run(db, folder);
  } finally {
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is counted as it changes must be what a count of everything gives. */
export async function judgeCounts(db: FaultsDatabase, note: (text: string) => void): Promise<void> {
  const store = await db.open();
  const stats = await createRegistryData(store).stats();
  await store.close();
  const one = async (text: string): Promise<number> => Number((await db.query<{ n: number }>(text))[0]!.n);
  const counted = {
    discovered_properties: await one(
      "select count(*) as n from adbind_registry_properties where source <> 'brand_json'",
    ),
    authorizations: await one("select count(*) as n from adbind_registry_authorizations"),
    discovered_publishers: await one(
      "select count(*) as n from adbind_registry_publishers where validated_at is not null",
    ),
  };
  for (const [name, count] of Object.entries(counted)) {
    const kept = stats[name as keyof typeof counted];
    if (kept !== count) note(`${name} says ${kept}, and there are ${count}`);
  }
}
