/** The parts of the sender's bench that other queues are part of. */
import { startPostgres } from "../../test/support/postgres.js";
import { hasPeers } from "./queue-contenders.js";
import type { Row } from "./row.js";
import { peerRows } from "./sender-peers.js";
import { promptnessRows } from "./sender-prompt.js";

const PEER_PARTS = ["enqueue", "drain", "prompt", "idle", "restart"];
const PEER_ROUNDS = 5;
const SHORT_ROUNDS = 2;
const SHORT_EVENTS = 10_000;

/**
 * Beside other queues, on a server of its own.
 * @param given events of each drain; fewer of everything without
 */
export async function besidePeers(
  asked: (part: string) => boolean,
  live: string,
  given: number | undefined,
): Promise<Row[]> {
  if (!PEER_PARTS.some(asked)) return [];
  if (!hasPeers()) throw new Error("test/interop/queues is not installed: `./run bench` does it");
  const cluster = await startPostgres({ max_connections: "200" });
  const short = given === undefined;
  const rounds = short ? SHORT_ROUNDS : PEER_ROUNDS;
  const events = given ?? SHORT_EVENTS;
  try {
    return [
      ...(await peerRows({ cluster, live, rounds, events, asked })),
      ...(await promptnessRows({ cluster, rounds, seconds: short ? 4 : 10, asked })),
    ];
  } finally {
    await cluster.stop();
  }
}
