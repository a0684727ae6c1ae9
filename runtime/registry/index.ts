/** A registry of publishers and agents: `adbind-cli/registry`. For a client alone, `adbind/registry/client`. */
export {
  createRegistryClient,
  type RegistryAnswer,
  type RegistryCallOptions,
  type RegistryClient,
  type RegistryClientOptions,
  type RegistryFailure,
  type RegistryRequest,
} from "./client.js";
export {
  type Crawler,
  type CrawlerOptions,
  type CrawlLimits,
  type CrawlRefusal,
  type CrawlRequestRecord,
  createCrawler,
} from "./crawl/index.js";
export { createRegistryData } from "./data.js";
export { createRegistry, type Registry } from "./server/app.js";
export {
  type Accounts,
  accountsOf,
  type KeyInfo,
  type NewOrganization,
  type NewUser,
  type Subscription,
  subscriptions,
  type Tier,
  tiers,
} from "./server/auth/accounts.js";
export { type Bucket, type Limits, limitDefaults } from "./server/limits.js";
export { createRegistryPart, type RegistryPart, type RegistryPartOptions } from "./server/part-app.js";
export type { RegistryOptions } from "./server/settings.js";
export type { TrustedIssuer } from "./server/trusted-issuer.js";
export { exportRegistry } from "./transfer/export.js";
export { importRegistry } from "./transfer/import.js";
export type { ImportOptions, ImportProgress, ImportResult } from "./transfer/import-types.js";
export type { TransferLine } from "./transfer/lines.js";
export type * from "./types.js";
