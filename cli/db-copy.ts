/** `adbind db copy`: a whole copy of a file that is in use, for a backup or a rehearsal. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { openDatabase } from "../runtime/db/open.js";
import { fileUrl } from "../runtime/db/urls.js";
import { AdbindError } from "../runtime/errors.js";
import { printJson, shownPath, userPath } from "./output.js";
import { placeOfNamed, type StoreOption } from "./store.js";

/** What says whom a sender tells, and what waits to be told. */
export const tellingTables = [
  "adbind_jobs",
  "adbind_job_bodies",
  "adbind_sent_tasks",
  "adbind_dedup",
  "adbind_channels",
  "adbind_coalescing",
  "adbind_sender_secrets",
] as const;

export interface CopyOptions extends StoreOption {
  readonly untold?: boolean;
}

/** @param file where the copy goes; it appears there whole, or not at all */
export async function copy(file: string, { store, json, untold = false }: CopyOptions): Promise<void> {
  const to = userPath(file);
  if (existsSync(to))
    throw new AdbindError("usage", "there is a file of that name", {
      where: shownPath(to),
      remedy: "name one that is not there yet: a copy replaces none",
    });
  const half = `${to}.${process.pid}.part`;
  const database = await openDatabase(placeOfNamed(store), { migrate: "skip" });
  try {
    await database.copy(half);
    if (untold) await forget(half);
    renameSync(half, to);
  } finally {
    rmSync(half, { force: true });
    await database.close();
  }
  if (json) printJson({ database: database.where, copy: to, untold });
  else console.log(`${shownPath(to)} is a whole copy${untold ? ", which tells nobody" : ""}`);
}

async function forget(file: string): Promise<void> {
  const database = await openDatabase(fileUrl(file), { migrate: "skip" });
  try {
    for (const table of tellingTables) await database.execute(`delete from ${table}`, []);
  } finally {
    await database.close();
  }
}
