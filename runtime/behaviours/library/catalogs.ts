/** Catalogues of what buyers sell, as they were synced. */
import type { JsonObject } from "../../contract/index.js";
import { accountCollection } from "../accounts/of-accounts.js";

export interface KeptCatalog {
  readonly catalog_id: string;
  readonly account_id: string;
  /** As the buyer sent it. */
  readonly catalog: JsonObject;
  readonly approved: number;
  readonly rejected: number;
  readonly last_synced_at: string;
  /** Digest of what was sent, to tell a change from a repeat. */
  readonly content: string;
}

export const catalogs = accountCollection<KeptCatalog>("catalog");
