/** All that stands at once, for whoever begins a copy. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import { agentsByUrl } from "../../store/registry-agents.js";
import { standingAfter, standingOf, type ToldRow } from "../../store/registry-told.js";
import type { AuthorizationSource, SnapshotPart, SnapshotPlace, SnapshotRow } from "../types.js";
import { snapshotRows } from "./authorizations.js";

/** Pairs read at once: some hundred kilobytes of rows as a rule. */
const PART_PAIRS = 500;
/** Pairs of one agent that are looked at. */
const AGENT_PAIRS = 10_000;

function* rowsOf(
  pairs: readonly ToldRow[],
  sources: readonly AuthorizationSource[],
  now: number,
): Generator<SnapshotRow> {
  for (const pair of pairs) if (pair.source !== null && sources.includes(pair.source)) yield* snapshotRows(pair, now);
}

export function* snapshotPart(
  q: Query,
  after: SnapshotPlace,
  { sources, now }: { readonly sources: readonly AuthorizationSource[]; readonly now: number },
): Coroutine<SnapshotPart> {
  const { rows: pairs, more } = yield* standingAfter(q, { ...after, limit: PART_PAIRS });
  const last = more ? pairs.at(-1) : undefined;
  const next = last === undefined ? undefined : { publisher: last.publisher, agent: last.agent };
  return { rows: rowsOf(pairs, sources, now), next };
}

/** What one agent may sell, as many rows as are wanted; undefined for an agent nobody knows. */
export function* agentRows(
  q: Query,
  agentUrl: string,
  wanted: { readonly sources: readonly AuthorizationSource[]; readonly limit: number; readonly now: number },
): Coroutine<SnapshotRow[] | undefined> {
  const [agent] = yield* agentsByUrl(q, [agentUrl]);
  if (agent === undefined) return undefined;
  const rows: SnapshotRow[] = [];
  for (let [skipped, left] = [0, true]; left && rows.length < wanted.limit; ) {
    const { rows: pairs, more } = yield* standingOf(q, { agent: agent.id, skipped, limit: AGENT_PAIRS });
    skipped += pairs.length;
    left = more && skipped < AGENT_PAIRS;
    for (const row of rowsOf(pairs, wanted.sources, wanted.now)) {
      if (rows.length === wanted.limit) break;
      rows.push(row);
    }
  }
  return rows;
}
