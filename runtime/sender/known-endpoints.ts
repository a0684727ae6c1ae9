/** Whether an endpoint that an operator names is one: a name that was mistyped is not paused instead of what was meant. */
import { AdbindError } from "../errors.js";
import type { Queue } from "../queue/types.js";
import type { SenderTables } from "../store/sender-tables.js";

interface Parts {
  readonly queue: Queue;
  readonly tables: SenderTables;
}

/** Names that are offered for one that is not known. */
const NEAR = 3;
/** Characters at the end of a name that are left out where its neighbours are looked for. */
const ENDING = 4;

export const isKnown = ({ queue, tables }: Parts, endpoint: string): Promise<boolean> =>
  queue.read((q) => tables.knowsEndpoint(q, queue.topic, endpoint));

/** Names at the same host, those that begin as the given one first. */
export async function namesNear({ queue }: Parts, endpoint: string): Promise<string[]> {
  const origin = URL.parse(endpoint.split(" ")[0]!)?.origin;
  if (origin === undefined) return [];
  for (const after of [endpoint.slice(0, -ENDING), origin]) {
    const page = await queue.endpoints({ after, limit: NEAR });
    const near = page.map((one) => one.endpoint).filter((name) => name.startsWith(`${origin} `));
    if (near.length > 0) return near;
  }
  return [];
}

/** Where an endpoint is to be paused. */
export const OR_AHEAD = "say `ahead` for one that will be";
/** Where one is to be moved. */
export const OR_MOVED = "look whether it has moved already";

/** @param otherwise what may be meant by a name that is none yet, or none any more */
export const unknownEndpoint = (endpoint: string, near: readonly string[], otherwise: string): AdbindError =>
  new AdbindError("endpoint_unknown", "no endpoint is known by that name", {
    where: endpoint,
    remedy: `${near.length === 0 ? "" : `at its host are ${near.map((name) => `"${name}"`).join(", ")}; `}see \`adbind outbox endpoints\`, or ${otherwise}`,
  });
