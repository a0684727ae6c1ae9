/** The least that could stand in the registry's place: a server that only sends bytes, an import that only stores lines. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, rmSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import Database from "better-sqlite3";
import pg from "pg";
import { binaryArray } from "../../runtime/db/postgres/binary-array.js";
import { fromSource } from "../../test/runner/from-source.js";
import { startClient } from "./client.js";

export const BARE_SERVER = "node's server sending as many bytes";
export const PLAIN_IMPORT = "parsing the lines and inserting a row a property";

/** What an answer is. */
interface Load {
  readonly bytes: number;
  /** Requests a second. */
  readonly rate: number;
  readonly requests: number;
}

/** @returns the latency of a bare server, in milliseconds, that all but a hundredth of the requests keep */
export async function bareLatency({ bytes, rate, requests }: Load): Promise<number> {
  const child = spawn(process.execPath, [...fromSource, path.join(import.meta.dirname, "bare-server.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    const client = startClient(`http://127.0.0.1:${Number(port.toString())}`);
    const load = { rate, requests: [{ path: `/?bytes=${bytes}` }] };
    await client.measure({ ...load, count: requests / 4 });
    const measured = await client.measure({ ...load, count: requests });
    await client.close();
    return measured.at(0.99);
  } finally {
    child.kill();
  }
}

type Property = readonly [domain: string, id: string, json: string];

/** What keeps the rows of one commit. */
type Keep = (rows: readonly Property[]) => Promise<void> | void;

/** Properties of a commit: an import that keeps nothing else may take as many as it likes. */
const BATCH = 5_000;

/** @returns properties a second */
async function readInto(keep: Keep, file: string, properties: number): Promise<number> {
  const started = performance.now();
  const input = createReadStream(file, { highWaterMark: 1 << 20 });
  let rows: Property[] = [];
  let taken = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const { domain, adagents_json: found } = JSON.parse(line) as {
      domain: string;
      adagents_json?: { properties: { property_id: string }[] };
    };
    for (const property of found?.properties ?? []) rows.push([domain, property.property_id, JSON.stringify(property)]);
    if (rows.length < BATCH) continue;
    await keep(rows);
    taken += rows.length;
    rows = [];
    if (taken >= properties) break;
  }
  await keep(rows);
  taken += rows.length;
  input.destroy();
  return taken / ((performance.now() - started) / 1_000);
}

/**
 * The rate of an import that only stores: one row a property, keyed, nothing found out about it.
 * @param store where ours imports to: the plain one has a table of its own beside it
 * @param properties how many to take of the file, at most
 * @returns properties a second
 */
export async function plainImport(store: string, file: string, properties: number): Promise<number> {
  const table = "create table plain_import (domain text, id text, json text, primary key (domain, id))";
  if (store.startsWith("sqlite:")) {
    const place = `${store.slice("sqlite:".length)}-plain`;
    const db = new Database(place);
    db.pragma("journal_mode = wal");
    db.exec(table);
    const insert = db.prepare("insert into plain_import values (?, ?, ?)");
    const rate = await readInto(
      db.transaction((rows: readonly Property[]) => {
        for (const row of rows) insert.run(...row);
      }),
      file,
      properties,
    );
    db.close();
    for (const end of ["", "-wal", "-shm"]) rmSync(place + end, { force: true });
    return rate;
  }
  const client = new pg.Client({ connectionString: store });
  await client.connect();
  await client.query(table);
  const insert = "insert into plain_import select * from unnest($1::text[], $2::text[], $3::text[])";
  // As ours does: a slower floor would make ours look better.
  const column = (rows: readonly Property[], at: number): Buffer =>
    binaryArray(
      "text",
      rows.map((row) => row[at]!),
    );
  const keep: Keep = async (rows) =>
    void (await client.query(
      insert,
      [0, 1, 2].map((at) => column(rows, at)),
    ));
  const rate = await readInto(keep, file, properties);
  await client.query("drop table plain_import");
  await client.end();
  return rate;
}

/** Does at once what PostgreSQL tidies up in the minutes after a large import: a registry that serves is past that. */
export async function tidied(store: string): Promise<void> {
  if (store.startsWith("sqlite:")) return;
  const client = new pg.Client(store);
  await client.connect();
  await client.query("vacuum analyze");
  await client.query("checkpoint");
  await client.end();
}
