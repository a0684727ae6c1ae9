/** A URL as text -> the one place it may mean, or a refusal. Nothing is resolved here. */
import { isIP } from "node:net";
import { getDomain } from "tldts";
import { addressKind } from "./address.js";
import { NetFault } from "./codes.js";
import type { NetPolicy } from "./policy.js";

/**
 * Names no public resolver answers for. Refused by name, so that a resolver with a search list or a split horizon cannot
 * lend them an address.
 */
const localSuffixes = [
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "private",
  "corp",
  "lan",
  "home",
  "home.arpa",
  "onion",
  "arpa",
] as const;

/** Characters of RFC 3986 and no others: parsers differ over the rest (tabs, backslashes, Unicode digits and dots). */
const uriCharacters = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;
const hostName = /^(?!-)[a-z0-9_-]{1,63}(?:\.(?!-)[a-z0-9_-]{1,63})*$/;
/** Longest URL we dial; well above any real one. */
const MAX_URL_LENGTH = 8192;
/** RFC 1035, 2.3.4, in presentation form without the root dot. */
const MAX_HOST_LENGTH = 253;

/** Authority of an absolute URL as written; undefined where there is none. */
const rawAuthority = (url: string): string | undefined => /^[A-Za-z][A-Za-z0-9+.-]*:\/\/([^/?#]*)/.exec(url)?.[1];

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

const isLocalName = (host: string): boolean =>
  !host.includes(".") || localSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));

const isLocalhost = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

function checkHost(host: string, rawHost: string, policy: NetPolicy): void {
  if (isIP(host) !== 0) {
    // Only the plain spelling, and only where loopback is allowed: 127.1, 0x7f.0.0.1 and the like are somebody's trick.
    if (policy.allowLoopback && rawHost === host && addressKind(host) === "loopback") return;
    throw new NetFault("host_refused", "the host is an IP address");
  }
  if (host.length > MAX_HOST_LENGTH || !hostName.test(host)) throw new NetFault("url_malformed", "not a host name");
  if (isLocalName(host) && !(policy.allowLoopback && isLocalhost(host))) {
    throw new NetFault("host_refused", "the host is a local name");
  }
}

/** Where a request goes. */
export interface Target {
  readonly url: URL;
  /** Path and query as written: a signature covers them, and `URL` rewrites some (`%2E%2E`). */
  readonly path: string;
}

const pathOf = (text: string): string => {
  const path = text.replace(/^[^/]*\/\/[^/?#]*/, "").replace(/#.*$/, "");
  return path.startsWith("/") ? path : `/${path}`;
};

function parse(text: string): { url: URL; authority: string } {
  if (text.length > MAX_URL_LENGTH) throw new NetFault("url_malformed", "the URL is too long");
  if (!uriCharacters.test(text)) throw new NetFault("url_malformed", "a character that URLs do not have");
  const authority = rawAuthority(text);
  if (authority === undefined || authority === "")
    throw new NetFault("url_malformed", "not an absolute URL with a host");
  if (authority.includes("@")) throw new NetFault("userinfo_refused", "the URL carries userinfo");
  if (authority.includes("%")) throw new NetFault("url_malformed", "the host is percent-encoded or has a zone id");
  try {
    return { url: new URL(text), authority };
  } catch {
    throw new NetFault("url_malformed", "the URL does not parse");
  }
}

/**
 * Reads a URL strictly and applies the policy to everything but its addresses.
 * One trailing root dot goes, as in `@target-uri` (docs/protocol/signing.md#target-uri), and the fragment with it.
 * @throws NetFault with a code of kind `refused`
 */
export function checkTarget(text: string, policy: NetPolicy): Target {
  const { url, authority } = parse(text);
  if (url.protocol !== "https:" && !(policy.allowHttp && url.protocol === "http:")) {
    throw new NetFault("scheme_refused", `the scheme is ${url.protocol}`);
  }
  const rawHost = authority
    .replace(/:\d*$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
  const host = hostOf(url).replace(/\.$/, "");
  checkHost(host, rawHost, policy);
  if (isIP(host) === 0) url.hostname = host;
  url.hash = "";
  const port = portOf(url);
  if (policy.ports !== "any" && !policy.ports.has(port)) throw new NetFault("port_refused", `the port is ${port}`);
  if (port === 0) throw new NetFault("port_refused", "port 0");
  return { url, path: pathOf(text) };
}

/** Port a URL stands for, its scheme's when it names none. */
const portOf = (url: URL): number => (url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port));

/**
 * Registrable domain of a host by the Public Suffix List with its private section: on shared hosting a tenant is its own
 * domain. The host itself where it has none (an address, a suffix).
 */
export const registrableDomain = (host: string): string =>
  getDomain(host, { allowPrivateDomains: true }) ?? host.toLowerCase();
