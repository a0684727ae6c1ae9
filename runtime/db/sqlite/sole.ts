/** What one process at a time may do on a file. */
import { realpathSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { AdbindError } from "../../errors.js";
import { isSqliteError, sqlite } from "./driver.js";
import { unreachable } from "./faults.js";

/** Between two looks, in milliseconds. */
const LOOK_MS = 100;

/**
 * Takes the lock of an empty file beside the database. The system lets go of it with the process, however that ends; the file
 * stays, since who removed it could remove the one that another process has just locked.
 * @param what is done, one word that a file's name may have
 * @param waits told once when another process is found
 * @returns lets go of it
 * @throws AdbindError `database_busy` where another process does it still when the wait is over
 */
export async function soleOn(
  { path, waitMs }: { readonly path: string; readonly waitMs: number },
  what: string,
  waits: () => void,
): Promise<() => void> {
  // Links to a file are that file.
  const beside = `${realpathSync(path)}-${what}`;
  const Driver = sqlite.load();
  const file = new Driver(beside, { timeout: 0 });
  const until = performance.now() + waitMs;
  for (let look = 0; ; look++) {
    try {
      file.exec("begin exclusive");
      return () => file.close();
    } catch (error) {
      const taken = isSqliteError(error) && error.code === "SQLITE_BUSY";
      if (taken && performance.now() < until) {
        if (look === 0) waits();
        await pause(LOOK_MS);
        continue;
      }
      file.close();
      if (!taken) throw unreachable(beside, error);
      throw new AdbindError("database_busy", `another process is the ${what} of this file`, {
        where: path,
        remedy: "end it first, or give both one PostgreSQL, which any number of processes share",
      });
    }
  }
}
