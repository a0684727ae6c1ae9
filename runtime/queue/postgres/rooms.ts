/** For how many jobs of which endpoints there is room. */
import type { RoomOf } from "../endpoint-options.js";

/** An endpoint, and how many of its jobs may be leased. */
export type Room = readonly [endpoint: string, room: number];

export const roomsOf = (endpoints: readonly string[], room: RoomOf, limit: number): Room[] =>
  endpoints
    .map((endpoint, at): Room => [endpoint, Math.min(room(endpoint, endpoints.length - 1 - at), limit)])
    .filter(([, wanted]) => wanted > 0);

/** How many jobs there are of each endpoint. */
export function countsOf(jobs: readonly { readonly endpoint: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { endpoint } of jobs) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
  return counts;
}
