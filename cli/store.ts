/** What commands on a store share: how it is named, how far it is opened, and what may be printed of it. */
import { statSync } from "node:fs";
import { type Command, Option } from "commander";
import { fileOf, fileUrl, isDatabaseUrl, URL_FORMS } from "../runtime/db/urls.js";
import { AdbindError } from "../runtime/errors.js";
import { type AnyStore, type DatabaseOptions, openStore, type StoreAccess } from "../runtime/store/index.js";
import { shownPath, userPath } from "./output.js";

export interface StoreOption {
  /** Absent where neither the flag nor the environment names one. */
  readonly store?: string;
  readonly json?: boolean;
}

/** Read and written by people who are neither the owner nor of the group. */
const OTHERS = 0o007;

/** Files are named from where the user stands. */
function placeOf(store: string): string {
  const file = fileOf(store);
  return file === undefined ? store : fileUrl(userPath(file));
}

/** A file that was made before adbind made them private, or that somebody opened up, is left as it is. */
function warnOfOthers(place: string): void {
  const file = fileOf(place);
  if (process.platform === "win32" || file === undefined) return;
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & OTHERS) !== 0) console.error(`warning: ${shownPath(file)} can be read by others; chmod 600 it`);
}

/**
 * The URL of the store a command was given, its file named from where the user stands.
 * @throws AdbindError `usage` where none was
 */
export function placeOfNamed(store: string | undefined): string {
  if (store === undefined || store === "")
    throw new AdbindError("usage", "no store is named", { remedy: "give --store <url>, or set ADBIND_STORE" });
  // Not printed: it may hold a password.
  if (!isDatabaseUrl(store))
    throw new AdbindError("usage", "the store's URL is of no kind adbind knows", { remedy: `give ${URL_FORMS}` });
  return placeOf(store);
}

/**
 * Opens the store a command was given.
 * @throws AdbindError `usage` where none was; as `openStore`
 */
export async function openNamedStore(
  store: string | undefined,
  access: StoreAccess,
  options: DatabaseOptions = {},
): Promise<AnyStore> {
  const place = placeOfNamed(store);
  const opened = await openStore(place, { ...options, access });
  warnOfOthers(place);
  return opened;
}

/** Opens the store for one job. */
export async function withStore<T>(
  { store }: StoreOption,
  access: StoreAccess,
  job: (store: AnyStore) => Promise<T>,
): Promise<T> {
  const opened = await openNamedStore(store, access);
  try {
    return await job(opened);
  } finally {
    await opened.close();
  }
}

/** Adds `--store`. @param otherwise the store where none is named */
export function storeOption(command: Command, otherwise?: string): Command {
  const option = new Option("--store <url>", URL_FORMS).env("ADBIND_STORE");
  return command.addOption(otherwise === undefined ? option : option.default(otherwise));
}

/** As a registry names its store, with the server's own default. */
export const registryStoreOption = (command: Command): Command => storeOption(command, fileUrl("registry.db"));

/** As it may be printed. */
export function shownStore(store: string): string {
  const file = fileOf(store);
  if (file !== undefined) return fileUrl(shownPath(userPath(file)));
  return store.replace(/^(\w+:\/\/[^:@/]*):[^@]*@/, "$1@").replace(/\?.*$/s, "");
}
