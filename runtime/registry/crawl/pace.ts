/** Requests to one owner's hosts, one after the other and not too soon. */
import { setTimeout as pause } from "node:timers/promises";
import { type Fetcher, registrableDomain } from "../../net/index.js";

/** Time between the starts of two requests to hosts of one registrable domain, in milliseconds. */
const APART_MS = 200;
/** Owners remembered; those whose time has come are forgotten beyond. */
const MAX_OWNERS = 10_000;

/** The same fetch, which waits for its turn at an owner. Redirects are followed without waiting again. */
export function pacedFetch(fetch: Fetcher, { apartMs = APART_MS, now = Date.now } = {}): Fetcher {
  const next = new Map<string, number>();
  return async (url, request = {}) => {
    const { hostname } = new URL(url);
    const owner = registrableDomain(hostname) ?? hostname;
    const at = now();
    const turn = Math.max(at, next.get(owner) ?? 0);
    if (next.size > MAX_OWNERS) for (const [name, time] of next) if (time <= at) next.delete(name);
    next.set(owner, turn + apartMs);
    const { signal } = request;
    // What was broken off meanwhile is told by the fetch itself.
    if (turn > at)
      await pause(turn - at, undefined, { ...(signal !== undefined && { signal }) }).catch(() => undefined);
    return fetch(url, request);
  };
}
