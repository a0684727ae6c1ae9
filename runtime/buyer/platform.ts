/** What a buyer needs of where it runs: node, or whatever has the platform's own fetch and crypto. */
import type { Release } from "../contract/index.js";
import type { Fetcher } from "../net/index.js";
import type { signRequest } from "../signing/web.js";
import type { AnyValidator, ValidatorSource } from "../validate/types.js";

export interface BuyerPlatform {
  /** Carries requests where the application gives nothing that does. */
  makeFetch(allowLocal: boolean, timeoutMs: number): { readonly fetch: Fetcher; readonly close: () => Promise<void> };
  /** Loaded with the first request that is signed. */
  signer(): Promise<typeof signRequest>;
  /** @returns undefined where one validator is to serve several releases */
  validatorsOf(
    source: ValidatorSource | undefined,
    releases: readonly Release[],
  ): ((release: Release) => Promise<AnyValidator>) | undefined;
}
