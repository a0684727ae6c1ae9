/** A whole copy of a file that others write meanwhile. */
import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import type Sqlite from "better-sqlite3";
import { unreachable } from "./faults.js";

export function copyTo(file: Sqlite.Database, to: string): void {
  let made = false;
  try {
    // Its owner's alone before anything is in it; what is there already is not taken.
    closeSync(openSync(to, "wx", 0o600));
    made = true;
    file.prepare("vacuum into ?").run(to);
    const copy = openSync(to, "r");
    fsyncSync(copy);
    closeSync(copy);
  } catch (error) {
    if (made) rmSync(to, { force: true });
    throw unreachable(to, error);
  }
}
