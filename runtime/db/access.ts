/** How a store may be opened, and what is said where it cannot be. */
import { AdbindError } from "../errors.js";

/**
 * `create`: it is made where there is none, and brought to this version's schema. `change`: it has to be there, and is
 * brought to that schema. `read`: it has to be there with that schema, and nothing of it is changed.
 */
export type StoreAccess = "create" | "change" | "read";

/** What a database is opened for. */
export interface AccessOptions {
  /** Default `create`. */
  readonly access?: StoreAccess;
}

export const missingStore = (what: string, where: string): AdbindError =>
  new AdbindError("store_missing", what, {
    where,
    remedy: "check its name; a receiver, a sender, a seller or a registry makes one when it starts",
  });

/** A database's URL without its user, its password and its settings, which may hold one too. */
export const withoutSecrets = (url: string): string => (url.split("@").at(-1) ?? "").replace(/\?.*$/s, "");
