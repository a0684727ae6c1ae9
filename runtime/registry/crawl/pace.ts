/** Requests to one owner's hosts, one after the other and not too soon. */
import { setTimeout as pause } from "node:timers/promises";
import { type Fetcher, registrableDomain } from "../../net/index.js";

/** Time between the starts of two requests to hosts of one registrable domain, in milliseconds. */
const APART_MS = 200;
/** Owners remembered; those whose time has come are forgotten beyond. */
const MAX_OWNERS = 10_000;

interface Pace {
  /** When the next request may start at the earliest, those counted that wait already. */
  next: number;
  /** When the last one did start. */
  started: number;
}

/** The same fetch, which waits for its turn at an owner. Redirects are followed without waiting again. */
export function pacedFetch(fetch: Fetcher, { apartMs = APART_MS, now = () => performance.now() } = {}): Fetcher {
  const owners = new Map<string, Pace>();
  return async (url, request = {}) => {
    const { hostname } = new URL(url);
    const owner = registrableDomain(hostname) ?? hostname;
    const at = now();
    if (owners.size > MAX_OWNERS) for (const [name, { next }] of owners) if (next <= at) owners.delete(name);
    const pace = owners.get(owner) ?? { next: at, started: Number.NEGATIVE_INFINITY };
    owners.set(owner, pace);
    const turn = Math.max(at, pace.next, pace.started + apartMs);
    pace.next = turn + apartMs;
    const { signal } = request;
    // A process that was held up wakes several at once: each looks when the one before it did start. What was broken off
    // meanwhile is told by the fetch itself.
    for (let wait = turn - at; wait > 0 && !signal?.aborted; wait = pace.started + apartMs - now())
      await pause(wait, undefined, { ...(signal !== undefined && { signal }) }).catch(() => undefined);
    pace.started = now();
    return fetch(url, request);
  };
}
