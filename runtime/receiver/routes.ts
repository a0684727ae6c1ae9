/** Routes by request target, remembered for a moment: they are asked for at every request and seldom change. */
import type { Registration, Registrations, RouteBinding } from "../store/types.js";

/** How long a route is believed, in milliseconds: what another instance changed of it is served this much longer. */
const MEMORY_MS = 5_000;
/** Routes remembered; beyond this the memory starts anew. */
const MEMORY_ENTRIES = 10_000;
/** Longest target looked up, in characters. */
const MAX_TARGET_CHARS = 2_048;

/** From the first slash, in printable ASCII: what a request line can carry and every database can store. */
export const isRoute = (text: string): boolean => text.length <= MAX_TARGET_CHARS && /^\/[\x21-\x7e]*$/.test(text);

/** A route, and the registration of its own where it has one. */
export interface KnownRoute {
  readonly binding: RouteBinding;
  readonly whole: Registration | undefined;
}

export interface RouteCache {
  /** The route of a request target: of the whole of it, else of its path. */
  find(target: string): Promise<KnownRoute | undefined>;
  forget(route: string): void;
}

export function routeCache(registrations: Registrations, now: () => number): RouteCache {
  const known = new Map<string, KnownRoute & { readonly at: number }>();
  const find = async (route: string): Promise<KnownRoute | undefined> => {
    const held = known.get(route);
    // Of a clock that was set back nobody knows for how long: what was remembered by the old one is asked for again.
    if (held !== undefined && Math.abs(now() - held.at) < MEMORY_MS) return held;
    const binding = await registrations.binding(route);
    // An unknown route is asked for each time: its registration may be a moment away.
    known.delete(route);
    if (binding === undefined) return undefined;
    const entry = { binding, whole: await registrations.own(binding, null), at: now() };
    if (known.size >= MEMORY_ENTRIES) known.clear();
    known.set(route, entry);
    return entry;
  };
  return {
    async find(target) {
      if (!isRoute(target)) return undefined;
      const query = target.indexOf("?");
      return (await find(target)) ?? (query < 0 ? undefined : find(target.slice(0, query)));
    },
    forget(route) {
      known.delete(route);
    },
  };
}
