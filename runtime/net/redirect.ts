/** Which redirects may be followed. The default everywhere is none: the 3xx is then the answer. */
import { NetFault } from "./codes.js";
import type { NetPolicy } from "./policy.js";
import { checkTarget, registrableDomain, type Target } from "./target.js";

/** How many redirects are followed, and how far from where they began. */
export interface RedirectPolicy {
  /** How many may be followed. */
  readonly hops: number;
  /**
   * `registrable-domain`: within that of the first URL, whatever hop it is, as for an authorisation file. `any`: to any
   * public host, as for ads.txt.
   */
  readonly scope: "registrable-domain" | "any";
}

/** Redirects of `/.well-known/adagents.json` (docs/protocol/files.md#where-it-is, 1). */
export const wellKnownRedirects: RedirectPolicy = { hops: 3, scope: "registrable-domain" };

const followed = new Set([301, 302, 303, 307, 308]);

export const isRedirect = (status: number): boolean => followed.has(status);

/** Fields that are for the first host only. */
const credentials = new Set(["authorization", "cookie", "proxy-authorization"]);

/** Headers for the next hop: credentials stay with the origin they were given for. */
export const headersFor = (
  headers: Readonly<Record<string, string>>,
  from: URL,
  to: URL,
): Readonly<Record<string, string>> =>
  from.origin === to.origin
    ? headers
    : Object.fromEntries(Object.entries(headers).filter(([name]) => !credentials.has(name.toLowerCase())));

function locate(location: string | undefined, current: URL): string {
  // The same characters are refused as in a URL of ours; a base would otherwise let tabs and backslashes through.
  if (location === undefined || !/^[\x21-\x7e]+$/.test(location) || location.includes("\\")) {
    throw new NetFault("redirect_malformed", `${current.hostname} sends no usable Location`);
  }
  try {
    return new URL(location, current).href;
  } catch {
    throw new NetFault("redirect_malformed", `${current.hostname} sends no usable Location`);
  }
}

interface Hop {
  readonly first: URL;
  readonly current: URL;
  readonly location: string | undefined;
  /** Redirects followed so far. */
  readonly count: number;
}

/**
 * The next URL of a chain, checked like the first.
 * @throws NetFault of kind `refused`; nothing of the next host has been resolved then
 */
export function nextHop(hop: Hop, redirects: RedirectPolicy, policy: NetPolicy): Target {
  const href = locate(hop.location, hop.current);
  if (hop.current.protocol === "https:" && href.startsWith("http:")) {
    throw new NetFault("redirect_downgrade", `${hop.current.hostname} redirects to http`);
  }
  const next = checkTarget(href, policy);
  if (
    redirects.scope === "registrable-domain" &&
    registrableDomain(next.url.hostname) !== registrableDomain(hop.first.hostname)
  ) {
    throw new NetFault("redirect_cross_domain", `${hop.first.hostname} redirects to ${next.url.hostname}`);
  }
  if (hop.count >= redirects.hops) throw new NetFault("redirect_limit", `more than ${redirects.hops} redirects`);
  return next;
}
