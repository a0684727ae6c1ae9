/** For how many jobs of which endpoints there is room. */

/** An endpoint, and how many of its jobs may be leased. */
export type Room = readonly [endpoint: string, room: number];

export const roomsOf = (endpoints: readonly string[], room: (endpoint: string) => number, limit: number): Room[] =>
  endpoints.map((endpoint): Room => [endpoint, Math.min(room(endpoint), limit)]).filter(([, wanted]) => wanted > 0);
