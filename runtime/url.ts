/**
 * The one canonical form of a URL that both ends of a signature compute, and that agent URLs are compared in. A hand
 * parser: WHATWG's `URL` repairs what must be refused here (backslashes, white space, `https:///p`) and rewrites what must
 * be kept (`%2E%2E`, hosts like `0x7f.1`).
 */

export interface CanonicalUrl {
  readonly ok: true;
  readonly url: string;
  readonly scheme: "https" | "http";
  /** Host, and the port where it is not the scheme's default. */
  readonly authority: string;
}

export interface MalformedUrl {
  readonly ok: false;
  readonly reason: "malformed" | "non_ascii_host";
  readonly detail: string;
}

export type UrlResult = CanonicalUrl | MalformedUrl;

export interface CanonicalOptions {
  /**
   * What a host outside ASCII means. A signer converts it to its A-label (UTS-46); a verifier refuses it, because whoever
   * sent it raw may have converted it another way.
   */
  readonly unicodeHost: "convert" | "refuse";
}

const malformed = (detail: string): MalformedUrl => ({ ok: false, reason: "malformed", detail });

/**
 * Canonical form of an absolute http(s) URL (RFC 3986 section 6, as the signing profile narrows it): scheme and host in
 * lower case, no userinfo, default port, root dot or fragment, dot segments removed before percent-encoding is normalised,
 * empty path `/`, query byte for byte.
 * @returns the form, or why there is none; it never throws
 */
export function canonicalUrl(input: string, options: CanonicalOptions): UrlResult {
  const scheme = schemeOf(input);
  if (scheme === undefined) return malformed("not an absolute http or https URL");
  const start = scheme.length + 3;
  const end = authorityEnd(input, start);
  const authority = canonicalAuthority(input.slice(start, end), scheme, options);
  if (!authority.ok) return authority;

  const hash = input.indexOf("#", end);
  const stop = hash === -1 ? input.length : hash;
  const mark = input.indexOf("?", end);
  const pathEnd = mark === -1 || mark > stop ? stop : mark;
  const path = canonicalPath(input.slice(end, pathEnd));
  if (path === undefined) return malformed("the path holds a character or a percent triplet no URL may hold");
  const query = input.slice(pathEnd, stop);
  if (outsideVisibleAscii.test(query))
    return malformed("the query holds white space, a control or a non-ASCII character");
  return { ok: true, url: `${scheme}://${authority.authority}${path}${query}`, scheme, authority: authority.authority };
}

/**
 * Canonical form of an authority, as in a URL or in a Host header.
 * @param input userinfo, host and port as received
 */
export function canonicalAuthority(
  input: string,
  scheme: "https" | "http",
  options: CanonicalOptions,
): { readonly ok: true; readonly authority: string } | MalformedUrl {
  const at = input.indexOf("@");
  // A second @ is where parsers disagree about which part is the host.
  if (at !== -1 && input.indexOf("@", at + 1) !== -1) return malformed("more than one @ in the authority");
  if (at !== -1 && !userinfo.test(input.slice(0, at)))
    return malformed("the userinfo holds a character it may not hold");
  const hostPort = at === -1 ? input : input.slice(at + 1);
  const colon = hostPort.startsWith("[") ? hostPort.indexOf("]") + 1 : hostPort.indexOf(":");
  const hostEnd = hostPort.startsWith("[") ? colon : colon === -1 ? hostPort.length : colon;
  const host = hostPort.slice(0, hostEnd);
  const rest = hostPort.slice(hostEnd);
  if (host === "")
    return malformed(hostPort.startsWith("[") ? "the bracket of an IPv6 address is not closed" : "no host");
  const name = host.startsWith("[") ? canonicalIpv6(host) : canonicalName(host, options);
  if (!name.ok) return name;
  if (rest === "" || rest === ":") return { ok: true, authority: name.host };
  if (!portText.test(rest)) return malformed("the port is not a number; an IPv6 address needs brackets");
  const port = Number(rest.slice(1));
  if (port > 65_535) return malformed("the port is above 65535");
  return { ok: true, authority: port === defaultPorts[scheme] ? name.host : `${name.host}:${port}` };
}

const defaultPorts = { https: 443, http: 80 } as const;
const portText = /^:[0-9]+$/;
const userinfo = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:]|%[0-9A-Fa-f]{2})*$/;
const outsideVisibleAscii = /[^\x21-\x7e]/;

function schemeOf(input: string): "https" | "http" | undefined {
  if (input.startsWith("https://")) return "https";
  const found = /^https?:\/\//i.exec(input);
  return found ? (found[0].slice(0, -3).toLowerCase() as "https" | "http") : undefined;
}

function authorityEnd(input: string, start: number): number {
  const slash = input.indexOf("/", start);
  const end = slash === -1 ? input.length : slash;
  const delimiter = input.slice(start, end).search(/[?#]/);
  return delimiter === -1 ? end : start + delimiter;
}

type Host = { readonly ok: true; readonly host: string } | MalformedUrl;

/** The longest name DNS can hold, in octets without the root dot (RFC 1035 section 3.1). */
const NAME_LIMIT_OCTETS = 253;
// An underscore is no host name to DNS, but container networks use it, and to a signature it is a byte like any other.
const asciiName = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the range meant
const nonAscii = /[^\x00-\x7f]/;

function canonicalName(input: string, options: CanonicalOptions): Host {
  let host = input;
  let international = false;
  if (nonAscii.test(host)) {
    if (options.unicodeHost === "refuse") {
      return { ok: false, reason: "non_ascii_host", detail: "the host is not ASCII: it must be sent as its A-label" };
    }
    const ascii = toAscii(host);
    if (ascii === undefined) return malformed("the host has no A-label under UTS-46");
    host = ascii;
    international = true;
  } else host = host.toLowerCase();
  if (host.endsWith(".")) host = host.slice(0, -1);
  if (!asciiName.test(host) || host.length > NAME_LIMIT_OCTETS)
    return malformed("the host is not a name or an address");
  if (!international && /(?:^|\.)xn--/.test(host)) {
    // Platforms differ in whether they look into A-labels, so these are taken apart and made again.
    const name = host.split(".").map(labelText).join(".");
    if (toAscii(name) !== host) return malformed("the host holds an A-label that UTS-46 does not allow");
    international = true;
  }
  if (international && host.includes("_"))
    return malformed("an international name holds only letters, digits and hyphens");
  return { ok: true, host };
}

/**
 * UTS-46 ToASCII, nontransitional, with hyphen, bidi and joiner checks. The platform's URL parser has the tables; the
 * extra last label keeps it from reading a host of digits as an IPv4 address.
 */
function toAscii(host: string): string | undefined {
  // The URL parser would decode a percent triplet and end the host at a delimiter; none of them is part of a name.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are refused here
  if (/[\x00-\x2c\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]/.test(host)) return undefined;
  const labels = host.normalize("NFKC").split(/[.\u3002]/);
  if (labels.some((label) => !/^xn--/i.test(label) && (label.slice(2, 4) === "--" || /^-|-$/.test(label))))
    return undefined;
  try {
    const { hostname } = new URL(`https://${host}.a/`);
    return hostname.endsWith(".a") ? hostname.slice(0, -2) : undefined;
  } catch {
    return undefined;
  }
}

/** A label as text; one that is no A-label stays as it is, and one that decodes to nothing fails what comes after. */
const labelText = (label: string): string => (label.startsWith("xn--") ? decodePunycode(label.slice(4)) : label);

/** RFC 3492 section 6.2, with the parameters of section 5; empty where the text is none. */
function decodePunycode(text: string): string {
  const dash = text.lastIndexOf("-");
  const output = [...text.slice(0, Math.max(dash, 0))].map((char) => char.charCodeAt(0));
  let point = 128;
  let index = 0;
  let bias = 72;
  for (let at = dash + 1; at < text.length; ) {
    const start = index;
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = "abcdefghijklmnopqrstuvwxyz0123456789".indexOf(text.charAt(at++) || "?");
      if (digit === -1) return "";
      index += digit * weight;
      const threshold = k <= bias ? 1 : Math.min(k - bias, 26);
      if (digit < threshold) break;
      weight *= 36 - threshold;
    }
    const length = output.length + 1;
    bias = adaptedBias(index - start, length, start === 0);
    point += Math.floor(index / length);
    index %= length;
    if (point > 0x10ffff) return "";
    output.splice(index++, 0, point);
  }
  return String.fromCodePoint(...output);
}

/** RFC 3492 section 6.1. */
function adaptedBias(delta: number, length: number, first: boolean): number {
  let rest = Math.floor(delta / (first ? 700 : 2));
  rest += Math.floor(rest / length);
  let k = 0;
  for (; rest > 455; k += 36) rest = Math.floor(rest / 35);
  return k + Math.floor((36 * rest) / (rest + 38));
}

/** An IPv6 literal in its brackets: checked, put in lower case, not rewritten. */
function canonicalIpv6(input: string): Host {
  const address = input.slice(1, -1).toLowerCase();
  return isIpv6(address) ? { ok: true, host: `[${address}]` } : malformed("not an IPv6 address (zone ids are refused)");
}

const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`);

function isIpv6(address: string): boolean {
  const halves = address.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1);
  const mapped = last !== undefined && !address.endsWith("::") && ipv4.test(last);
  const hex = mapped ? groups.slice(0, -1) : groups;
  if (!hex.every((group) => /^[0-9a-f]{1,4}$/.test(group))) return false;
  const count = hex.length + (mapped ? 2 : 0);
  return halves.length === 2 ? count <= 7 : count === 8;
}

/** The path with dot segments removed, then percent-encoding normalised; undefined when it holds what no path may. */
function canonicalPath(raw: string): string | undefined {
  if (raw === "") return "/";
  // A backslash is a separator to some readers and a byte to others.
  if (outsideVisibleAscii.test(raw) || raw.includes("\\")) return undefined;
  const path = raw.includes("/.") ? removeDotSegments(raw) : raw;
  return path.includes("%") ? normalisePercent(path) : path;
}

/** RFC 3986 section 5.2.4. `%2E` is not a dot and `%2F` not a separator here; empty segments stay. */
function removeDotSegments(path: string): string {
  const kept: string[] = [];
  const segments = path.slice(1).split("/");
  segments.forEach((segment, index) => {
    const last = index === segments.length - 1;
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
    if (last && (segment === "." || segment === "..")) kept.push("");
  });
  return `/${kept.join("/")}`;
}

const unreserved = /[A-Za-z0-9\-._~]/;

/** Upper-case hex, unreserved characters decoded (RFC 3986 sections 6.2.2.1 and 6.2.2.2). */
function normalisePercent(path: string): string | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) return undefined;
  return path.replace(/%[0-9A-Fa-f]{2}/g, (triplet) => {
    const char = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return unreserved.test(char) ? char : triplet.toUpperCase();
  });
}

/**
 * Canonical form of an agent's URL for comparison (docs/protocol/registry.md#common-rules): the case of the path is kept.
 * @returns undefined when it is not an absolute http(s) URL
 */
export function canonicalAgentUrl(url: string): string | undefined {
  const result = canonicalUrl(url, { unicodeHost: "convert" });
  return result.ok ? result.url : undefined;
}

/** Do two URLs name one agent? Never where either has no canonical form. */
export function sameAgentUrl(left: string, right: string): boolean {
  const canonical = canonicalAgentUrl(left);
  return canonical !== undefined && canonical === canonicalAgentUrl(right);
}

/**
 * A pattern over `METHOD URL`, as storyboards and test controllers give it (docs/protocol/conformance.md#checks): `*`
 * stands for anything, nothing else is special, and case does not count, so that nobody's spelling of a host hides a call.
 */
export const endpointPattern = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split("*")
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*")}$`,
    "is",
  );
