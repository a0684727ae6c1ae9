/** The forms that domains, agent URLs and identifiers are compared in. */
import { domainToASCII } from "node:url";
import { registrableDomain } from "../net/index.js";
import { canonicalUrl } from "../url.js";
import type { AgentType } from "./types.js";

/** Longest name DNS can hold (RFC 1035 section 3.1). */
const DOMAIN_LIMIT_OCTETS = 253;
const domainForm = /^(?=.*[a-z])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Longest text looked at for a domain, in characters: a URL may hang behind it. */
const DOMAIN_TEXT_LIMIT = 4_096;
const beyondAscii = /[^ -~]/;

/**
 * The domain that a text names: scheme, port, path and final dots are dropped, letters lowered
 * (docs/protocol/registry.md#common-rules), and international names are written as DNS has them (UTS 46).
 * @returns undefined for what is no domain of at least two labels, an IPv4 address among it
 */
export function publisherDomain(text: string): string | undefined {
  if (text.length > DOMAIN_TEXT_LIMIT) return undefined;
  const host = text
    .trim()
    .replace(/^https?:\/\//i, "")
    .replace(/[/?#].*$/s, "")
    .replace(/:\d{1,5}$/, "")
    .replace(/\.+$/, "");
  const domain = beyondAscii.test(host) ? domainToASCII(host) : host.toLowerCase();
  return domain.length <= DOMAIN_LIMIT_OCTETS && domainForm.test(domain) ? domain : undefined;
}

/**
 * The domain that a name is the `www.` or `m.` of (docs/protocol/files.md#domains); otherwise the name itself. On a suffix that
 * many share, the tenants of those names are strangers as all the others are: `m.github.io` is not GitHub's.
 */
export function siteOf(domain: string): string {
  const rest = domain.replace(/^(?:www|m)\./, "");
  return rest === domain || registrableDomain(rest) !== registrableDomain(domain) ? domain : rest;
}

/** A domain stands for its `www.` and `m.` too, and for no other host (docs/protocol/files.md#domains). */
export const sameSite = (a: string, b: string): boolean =>
  a === b || (siteOf(a) === siteOf(b) && (a === siteOf(a) || b === siteOf(b)));

/** Longest agent URL kept, in characters. */
export const AGENT_URL_LIMIT = 2048;

/**
 * The canonical form of an agent's URL; the case of its path is kept (docs/protocol/registry.md#common-rules).
 * @returns undefined for what is no http(s) URL
 */
export function agentUrlOf(text: string): string | undefined {
  if (text.length > AGENT_URL_LIMIT) return undefined;
  const result = canonicalUrl(text.trim(), { unicodeHost: "convert" });
  return result.ok ? result.url : undefined;
}

/** Identifiers are compared without case (docs/protocol/registry.md#common-rules). */
export const identifierValue = (value: string): string => value.trim().toLowerCase();

/** Where a publisher's agent-authorization file belongs. */
const WELL_KNOWN_PATH = "/.well-known/adagents.json";

export const expectedUrl = (domain: string): string => `https://${domain}${WELL_KNOWN_PATH}`;

/** Where this registry serves the file it hosts for a publisher. */
export const hostedUrl = (publicUrl: string, domain: string): string =>
  `${publicUrl.replace(/\/+$/, "")}/publisher/${domain}${WELL_KNOWN_PATH}`;

export const iso = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/** By code point, as both databases order it. */
export const byCodePoint = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What an agent may say that it does (docs/protocol/registry.md#operator-lookup); anything else is kept as `unknown`. */
export const agentTypes = [
  "brand",
  "rights",
  "measurement",
  "governance",
  "creative",
  "sales",
  "buying",
  "signals",
] as const satisfies readonly AgentType[];
