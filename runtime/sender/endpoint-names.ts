/** What endpoints are called: what shares turns, and fails, as a whole. */
import type { Release } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { operationRequired } from "../facts/index.js";
import type { EndpointOwner } from "../queue/endpoint-options.js";
import { ownerDigest } from "../store/keys.js";
import type { EndpointIdentity } from "./types.js";

/** An endpoint by one of its URLs. */
export interface NamedEndpoint extends EndpointIdentity {
  /** Id of the operation that was registered with the URL. */
  readonly operation?: string | undefined;
}

/** Names of endpoints that are asked for again and again. */
const endpoints = new Map<string, string>();
const KNOWN_ENDPOINTS = 2_000;

/**
 * One principal's URL; where a buyer puts the operation's id into it, all URLs that differ in nothing else. Others' on the
 * same host are endpoints of their own; the host comes first, for people, and stands before a blank; then the principal,
 * before a dot.
 */
export function endpointOf({ principal, url, operation }: NamedEndpoint): string {
  const pattern = patternOf(url, operation);
  const name = `${pattern} ${principal}`;
  const known = endpoints.get(name);
  if (known !== undefined) return known;
  const endpoint = `${new URL(url).origin}${principalPart(principal)}${ownerDigest(pattern)}`;
  if (endpoints.size >= KNOWN_ENDPOINTS) endpoints.clear();
  endpoints.set(name, endpoint);
  return endpoint;
}

/** What stands in the name of each endpoint of a principal, and of no other's. */
export const principalPart = (principal: string): string => ` ${ownerDigest(principal)}.`;

/** Host and port of an endpoint, by its name. */
export const hostOf = (endpoint: string): string => {
  const [origin = ""] = endpoint.split(" ", 1);
  return origin.slice(origin.indexOf("//") + 2);
};

/** Who stands behind an endpoint, by its name. */
export function ownerOf(endpoint: string): EndpointOwner {
  const [host = endpoint, rest = endpoint] = endpoint.split(" ");
  const principal = rest.split(".")[0]!;
  // "/" is the next after the dot.
  return { host, principal, end: `${host} ${principal}/` };
}

/** Stands for the operation's id in what is the URL of all operations. */
const PLACE = "{operation_id}";

/**
 * A URL with a name in place of the operation's id, where that is a whole segment of the path or a whole value of the query:
 * `https://buyer.example/hooks/{operation_id}`. The URL as it was given where it has none.
 */
export function patternOf(url: string, operation: string | undefined): string {
  if (operation === undefined || operation === "") return url;
  const { origin, pathname, search } = new URL(url);
  const named = (text: string): string => (decoded(text) === operation ? PLACE : text);
  const path = pathname.split("/").map(named).join("/");
  const pairs = search.split("&").map((pair) => {
    const at = pair.indexOf("=") + 1;
    return at === 0 ? pair : pair.slice(0, at) + named(pair.slice(at));
  });
  const query = pairs.join("&");
  return path === pathname && query === search ? url : `${origin}${path}${query}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/**
 * The URL of one operation.
 * @param pattern a URL that may have `{operation_id}` in place of its id
 * @throws AdbindError `registration_invalid` where it has, and there is none
 */
export function operationUrl(pattern: string, operation: string | undefined): string {
  if (!pattern.includes(PLACE)) return pattern;
  if (operation !== undefined) return pattern.replaceAll(PLACE, encodeURIComponent(operation));
  throw new AdbindError("registration_invalid", `a registration there has nothing for ${PLACE}`, {
    where: "url",
    remedy: "give a URL without it",
  });
}

/** Stands for any operation where it is asked what its endpoint is called. */
const ANY_OPERATION = "any-operation";

/** What an endpoint would be called, of the same principal, at another URL. @param url as `operationUrl` takes it */
export function endpointAt(endpoint: string, url: string): string {
  const operation = url.includes(PLACE) ? ANY_OPERATION : undefined;
  const there = operationUrl(url, operation);
  return `${new URL(there).origin} ${ownerOf(endpoint).principal}.${ownerDigest(patternOf(there, operation))}`;
}

/**
 * Whether buyers put the operation's id into the URL: where registrations have no place for it, and no payload needs it. Elsewhere the
 * URL is nobody's but the buyer's (docs/protocol/webhooks.md#correlation, 2).
 */
export const operationIsInUrl = (release: Pick<Release, "facts">): boolean =>
  release.facts.events.unnamed === undefined && !operationRequired(release);

/** As releases spell it that let it be registered. */
const OPERATION_ID = /^[A-Za-z0-9_.:-]{1,255}$/;

/** What may be an operation's id in a URL, under releases where buyers put it there: the last segment of its path. */
export function operationInUrl(url: string): string | undefined {
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  return OPERATION_ID.test(last) ? last : undefined;
}

/** The same for the name of an endpoint: a last segment without any digit is the name of a place, and the same for all. */
export function ownSegment(url: string): string | undefined {
  const last = operationInUrl(url);
  return last !== undefined && /\d/.test(last) ? last : undefined;
}
