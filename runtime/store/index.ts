/** Durable state: one interface, on SQLite for one machine and on PostgreSQL for many. All SQL is in this room. */

export type { AccessOptions, StoreAccess } from "../db/access.js";
export type { PostgresOptions } from "../db/postgres/open.js";
export type { SqliteOptions } from "../db/sqlite/open.js";
export type { DatabaseOptions } from "../db/types.js";
export {
  type DocumentChange,
  type DocumentPlace,
  type DocumentStore,
  documentStore,
  onFreshDocuments,
  StaleDocument,
  type StoredDocument,
} from "./documents.js";
export { openPostgresStore, type PostgresStore } from "./postgres/open.js";
export * from "./registry-access.js";
export type { IssuerRecord, IssuerRow, IssuerTable } from "./registry-issuer.js";
export type { DatabaseHealth, HealthListener, SplitDatabase } from "./split/member.js";
export type { SplitMember, SplitSet } from "./split/placement.js";
export { type PrincipalStore, shardedByPrincipal } from "./split/principals.js";
export { type ReceiverSplitOptions, type SplitStore, shardedBySender, type TxOfDatabase } from "./split/receivers.js";
export type { SplitOptions } from "./split/router.js";
export { openSqliteStore, type SqliteStore } from "./sqlite/open.js";
export { type TemporaryStore, temporaryStore } from "./sqlite/temporary.js";
export { type AnyStore, openStore, storeOn } from "./stores.js";
export type * from "./types.js";
