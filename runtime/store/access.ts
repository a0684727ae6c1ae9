/** How a store may be opened, and what is said where it cannot be. */
import { AdbindError } from "../errors.js";
import type { Migration } from "./migrations/index.js";

/**
 * `create`: it is made where there is none, and brought to this version's schema. `change`: it has to be there, and is
 * brought to that schema. `read`: it has to be there with that schema, and nothing of it is changed.
 */
export type StoreAccess = "create" | "change" | "read";

export interface AccessOptions {
  /** Default `create`. */
  readonly access?: StoreAccess;
}

export const missingStore = (what: string, where: string): AdbindError =>
  new AdbindError("store_missing", what, {
    where,
    remedy: "check its name; a receiver, a sender, a seller or a registry makes one when it starts",
  });

/** @throws AdbindError `store_schema` when a schema that may only be read lacks migrations */
export function assertComplete(pending: readonly Migration[], where: string): void {
  const [first] = pending;
  if (first === undefined) return;
  throw new AdbindError("store_schema", `the database lacks schema version ${first.version}, and is only to be read`, {
    where,
    remedy: "read it with the adbind that runs on it, or start the service with this one, which brings it up to date",
  });
}

/** A database's URL without its user, its password and its settings, which may hold one too. */
export const withoutSecrets = (url: string): string => (url.split("@").at(-1) ?? "").replace(/\?.*$/s, "");
