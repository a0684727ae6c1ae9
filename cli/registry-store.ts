/** What the commands beside the server share: the store they open, and how it is named. */
import type { Command } from "commander";
import { type AnyStore, openStore } from "../runtime/store/index.js";
import { placeOf } from "./store-option.js";

export interface StoreOption {
  readonly store: string;
  readonly json?: boolean;
}

export { placeOf } from "./store-option.js";

/** Opens the store for one job. */
export async function withStore<T>({ store }: StoreOption, job: (store: AnyStore) => Promise<T>): Promise<T> {
  const opened = await openStore(placeOf(store));
  try {
    return await job(opened);
  } finally {
    await opened.close();
  }
}

/** Adds `--store`, with the server's own default. */
export const storeOption = (command: Command): Command =>
  command.option(
    "--store <url>",
    "sqlite:<path> or postgres://user@host/database",
    process.env.ADBIND_REGISTRY_STORE ?? "sqlite:registry.db",
  );

/** Control characters of whatever origin must not reach a terminal. */
export const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?");
