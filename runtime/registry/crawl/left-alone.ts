/** Owners who want nothing fetched are left alone, whoever leads to them: other publishers' pointers, managers, redirects. */
import type { Fetcher, FetchResult, Lookup } from "../../net/index.js";

/** Whether the owner of a domain wants nothing fetched. */
export type OptedOut = (domain: string) => Promise<boolean>;

const refused: FetchResult = {
  ok: false,
  code: "host_refused",
  retryable: false,
  detail: "its owner wants nothing fetched",
};

/** Whether a fetch came to nothing since the owner of its host wants that. */
export const isLeftAlone = (result: FetchResult): boolean => result === refused;

/** A host's name without the dot by which the same name may end. */
const nameIn = (url: string): string => new URL(url).hostname.replace(/\.$/, "");

/** Fetches nothing of owners who have opted out. */
export const leavingAlone =
  (fetch: Fetcher, optedOut: OptedOut): Fetcher =>
  async (url, request) =>
    (await optedOut(nameIn(url))) ? refused : fetch(url, request);

/** The same of hosts that a redirect leads to. */
export const findingNone =
  (lookup: Lookup, optedOut: OptedOut): Lookup =>
  async (host) => {
    if (await optedOut(host)) throw new Error(refused.detail);
    return lookup(host);
  };
