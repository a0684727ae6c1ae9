/** A store for the length of a test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openSqliteStore, type SqliteStore } from "./open.js";

/** A store on a file of its own; `close` removes it. */
export interface TemporaryStore {
  readonly store: SqliteStore;
  /** Closes it, and removes its file. */
  close(): Promise<void>;
}

/** An empty store on a file of its own. */
export function temporaryStore(): TemporaryStore {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-test-"));
  const store = openSqliteStore({ path: path.join(folder, "store.db") });
  const close = async (): Promise<void> => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { store, close };
}
