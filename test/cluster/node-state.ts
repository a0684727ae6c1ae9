/** What a node of a cluster is, by the word of its Patroni. */
import type { NodePlace } from "./ha-config.js";

/** Longest answer of a Patroni, in milliseconds: a frozen one gives none. */
const REST_LIMIT_MS = 2_000;

/** What a Patroni says of its node. */
export interface NodeState {
  readonly role: string;
  readonly state: string;
  /** Of a replica: `streaming` where it follows without a gap. */
  readonly replication_state?: string;
  readonly sync_standby?: boolean;
  readonly timeline?: number;
}

/** @returns undefined where it does not answer */
export async function stateOf({ restPort }: NodePlace): Promise<NodeState | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${restPort}/patroni`, { signal: AbortSignal.timeout(REST_LIMIT_MS) });
    return (await answer.json()) as NodeState;
  } catch {
    return undefined;
  }
}

export const isPrimary = (state: NodeState | undefined): boolean =>
  state?.role === "primary" && state.state === "running";
