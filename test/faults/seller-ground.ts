/** What sellers that are killed stand on: a database of theirs, and processes that can be started again. */
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { type AnyStore, openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";
import { fromSource } from "../runner/from-source.js";
import { sharedPostgres } from "../support/postgres.js";
import { tempFolder } from "../support/release.js";

/** Longest a call may be repeated without an answer, in milliseconds: some seller is up again within seconds. */
export const ANSWERED_MS = 120_000;

export interface Ground {
  readonly url: string;
  /** How many processes are one seller. */
  readonly sellers: number;
  readonly store: AnyStore;
  stop(): Promise<void>;
}

export async function openGround(engine: "sqlite" | "postgres"): Promise<Ground> {
  if (engine === "sqlite") {
    const file = path.join(tempFolder(), "seller.db");
    const store = openSqliteStore({ path: file });
    return { url: `sqlite:${file}`, sellers: 1, store, stop: async () => store.close() };
  }
  const cluster = await sharedPostgres();
  const url = await cluster.database();
  const store = await openPostgresStore({ url });
  return {
    url,
    sellers: 2,
    store,
    async stop() {
      await store.close();
      await cluster.stop();
    },
  };
}

/** Sellers by place; an address is undefined while its seller is down. */
export class Sellers {
  readonly addresses: (string | undefined)[] = [];
  private readonly children: ChildProcess[] = [];
  /** Keys that are made for development stay here. */
  private readonly folder = tempFolder();

  /** @param file of the process, beside this one */
  constructor(
    private readonly file: string,
    private readonly args: readonly string[],
  ) {}

  /** Some seller that is up; the next one at the next try. */
  any(turn: number): string | undefined {
    const up = this.addresses.filter((address) => address !== undefined);
    return up[turn % Math.max(1, up.length)];
  }

  /** @throws Error where it ends before it listens: what it says of that is on stderr */
  async start(place: number): Promise<void> {
    const flags = [...fromSource, path.join(import.meta.dirname, this.file), ...this.args];
    const one = spawn(process.execPath, flags, { cwd: this.folder, stdio: ["pipe", "pipe", "inherit"] });
    this.children[place] = one;
    for await (const chunk of one.stdout!) {
      const found = /http:\S+/.exec(String(chunk))?.[0];
      if (found === undefined) continue;
      this.addresses[place] = found;
      return;
    }
    throw new Error(`${this.file} ended before it listened`);
  }

  async kill(place: number): Promise<void> {
    this.addresses[place] = undefined;
    const one = this.children[place];
    if (one === undefined || one.exitCode !== null || one.signalCode !== null) return;
    const ended = new Promise((resolve) => one.once("exit", resolve));
    one.kill("SIGKILL");
    await ended;
  }
}
