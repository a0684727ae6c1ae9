/**
 * Events that come at the same time, accepted in one transaction. Only those about whose nonce, key and task nothing is
 * known yet, as of most; each of the others, and each of a transaction that was refused, is accepted by itself.
 */
import { ask } from "../../db/postgres/client.js";
import { isDatabaseError } from "../../db/postgres/driver.js";
import { nameOf } from "../../db/postgres/kept.js";
import { type Sql, sql } from "../../db/postgres/sql.js";
import { RECEIVED_TASK_RETENTION_MS } from "../rows.js";
import type { AcceptOutcome, Arrival, TaskOrder } from "../types.js";
import { gathering } from "./gathering.js";
import type { Guarded } from "./guarded.js";
import type { PreparedNonce } from "./nonces.js";
import { type Db, shardOf, type Tx } from "./tables.js";

/** An arrival that may go with others. */
export interface Joining {
  readonly arrival: Arrival & { readonly order: TaskOrder; readonly event: { readonly taskId: string } };
  /** Number of its sender. */
  readonly sender: number;
  /** Digest of its key. */
  readonly claim: Uint8Array;
  readonly nonce: PreparedNonce | undefined;
}

/** May it go with others, as far as the arrival itself tells? What is seldom is accepted by itself. */
export const joins = (arrival: Arrival): arrival is Joining["arrival"] =>
  arrival.registered &&
  arrival.order !== undefined &&
  arrival.event.taskId !== null &&
  arrival.event.notificationId === null &&
  arrival.once === undefined &&
  arrival.unfit === undefined;

/** As accept-together's statement reads it. */
const GIVEN =
  "at integer, sender bigint, nonce_key bigint, nonce text, nonce_expires bigint, claim text, digest text, " +
  "claim_expires bigint, task_expires bigint, terminal boolean, key text, route text, kind text, release text, " +
  "format text, task_type text, task_id text, operation_id text, status text, instant text, received_at bigint, " +
  "due bigint, owner text, notes text, traceparent text, ordering_key text, task_operation text, body_from integer, body_bytes integer";

const INBOX =
  "sender, key, route, kind, release, format, task_type, task_id, operation_id, status, instant, received_at, due, " +
  "owner, notes, traceparent, ordering_key";

/**
 * A look at the three keys is a subquery for each row, whose plan is their index whatever the tables' sizes. Inserts go in the
 * order of their keys, so that two instances do not wait for each other.
 */
const TOGETHER = `
  with given as materialized (select * from json_to_recordset($1::json) as g (${GIVEN})),
  fresh as materialized (
    select *, decode(claim, 'hex') as claim_key from given g where
      (select 1 from adbind_nonces n where n.key = g.nonce_key and n.nonce = g.nonce) is null
      and (select 1 from adbind_claims c where c.sender = g.sender and c.key = decode(g.claim, 'hex')) is null
      and (select 1 from adbind_tasks t where t.sender = g.sender and t.task_id = g.task_id) is null
  ),
  nonces as (
    insert into adbind_nonces (key, nonce, expires)
    select nonce_key, nonce, nonce_expires from fresh where nonce is not null order by nonce_key, nonce
  ),
  claims as (
    insert into adbind_claims (sender, key, digest, expires)
    select sender, claim_key, decode(digest, 'hex'), claim_expires from fresh order by sender, claim_key
  ),
  tasks as (
    insert into adbind_tasks (sender, task_id, operation_id, instant, status, terminal, expires)
    select sender, task_id, task_operation, instant, status, terminal, task_expires from fresh order by sender, task_id
  ),
  kept as (
    insert into adbind_inbox (state, reemission, body, ${INBOX})
    select 'pending', false, substring($2::bytea from body_from for body_bytes), ${INBOX} from fresh order by at
    returning id, sender, key
  )
  select fresh.at, kept.id from kept join fresh using (sender, key)`;
nameOf(TOGETHER);

/** Leaves a transaction with nothing kept: a cap is near enough that each is to be judged by itself. */
class NoRoom extends Error {}

/** The server undid the transaction and says why: nothing of it was kept, and each can be tried by itself. */
const wasUndone = (error: unknown): boolean =>
  error instanceof NoRoom || (isDatabaseError(error) && /^(22|23|40)/.test(error.code ?? ""));

/**
 * Accepts events together.
 * @param alone accepts one by itself
 */
export function acceptTogether(
  db: Db,
  guard: Guarded,
  alone: (joining: Joining) => Promise<AcceptOutcome>,
): (joining: Joining) => Promise<AcceptOutcome> {
  const together = async (all: readonly Joining[]): Promise<({ result: AcceptOutcome } | undefined)[]> => {
    const batch = distinct(all);
    let ids = new Map<Joining, number>();
    try {
      ids = await db.transaction(async (tx) => {
        await guard.sender(tx, batch[0]!.arrival.event.sender);
        return keep(tx, batch);
      });
    } catch (error) {
      if (!wasUndone(error)) throw error;
    }
    return all.map((one) => {
      const id = ids.get(one);
      return id === undefined ? undefined : { result: accepted(one, id) };
    });
  };
  const gathered = { together, alone };
  if (guard.none) return gathering(gathered);
  // A keyspace that is on its way holds up, or refuses, its own events and no others.
  const ofSender = new Map<number, (joining: Joining) => Promise<AcceptOutcome>>();
  return (joining) => {
    const known = ofSender.get(joining.sender) ?? gathering(gathered);
    ofSender.set(joining.sender, known);
    return known(joining);
  };
}

/** Those of which no other has the nonce, the key or the task. */
function distinct(all: readonly Joining[]): Joining[] {
  const seen = new Set<string>();
  return all.filter(({ sender, nonce, arrival: { event } }) => {
    const names = [`key ${sender} ${event.key}`, `task ${sender} ${event.taskId}`];
    if (nonce !== undefined) names.push(`nonce ${nonce.row.key} ${nonce.row.nonce}`);
    if (names.some((name) => seen.has(name))) return false;
    for (const name of names) seen.add(name);
    return true;
  });
}

/** @returns the number in the inbox of each that was kept */
async function keep(tx: Tx, batch: readonly Joining[]): Promise<Map<Joining, number>> {
  let from = 1;
  const rows = batch.map((one, at) => {
    const row = { ...rowOf(one), at, body_from: from };
    from += row.body_bytes;
    return row;
  });
  const bodies = Buffer.concat(batch.map(({ arrival }) => arrival.event.body));
  const { rows: found } = await ask<{ at: number; id: number }>(tx, TOGETHER, [JSON.stringify(rows), bodies]);
  const kept = new Map(found.map(({ at, id }) => [batch[at]!, id]));
  await count(tx, [...kept.keys()]);
  return kept;
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function rowOf({ arrival, sender, claim, nonce }: Joining) {
  const { event, digest, order, lease, now, windowSeconds } = arrival;
  return {
    ...{ sender, nonce_key: nonce?.row.key, nonce: nonce?.row.nonce, nonce_expires: nonce?.row.expires },
    ...{ claim: hexOf(claim), digest: hexOf(digest) },
    ...{ claim_expires: now + windowSeconds * 1000, task_expires: now + RECEIVED_TASK_RETENTION_MS },
    ...{ terminal: order.terminal, key: event.key, route: event.route, kind: event.kind, release: event.release },
    ...{ format: event.format, task_type: event.taskType, task_id: event.taskId, operation_id: event.operationId },
    ...{ status: order.status, instant: order.instant, received_at: event.receivedAt },
    ...{ due: lease?.until ?? now, owner: lease?.owner, notes: JSON.stringify(event.notes) },
    // A first event that ends its task has nothing before it, and nothing can come after.
    ...{ traceparent: event.traceparent, ordering_key: order.terminal ? null : event.taskId },
    task_operation: order.operation,
    body_bytes: event.body.length,
  };
}

const accepted = ({ arrival }: Joining, id: number): AcceptOutcome => ({
  ...{ outcome: "accepted", id, parked: false, leased: arrival.lease !== undefined, reemission: false },
});

interface Count {
  readonly of: number;
  readonly shard: number;
  readonly cap: number;
  live: number;
}

/** How many are added to each counter, in the order in which all instances take them. */
function counts(added: readonly Omit<Count, "live">[]): Count[] {
  const found = new Map<string, Count>();
  for (const one of added) {
    const name = `${one.of} ${one.shard}`;
    const known = found.get(name) ?? { ...one, live: 0 };
    known.live += 1;
    found.set(name, known);
  }
  return [...found.values()].sort((a, b) => a.of - b.of || a.shard - b.shard);
}

/** Counters with what is added to each, as rows of a statement. */
const added = (rows: readonly Count[]): Sql<never> => sql`
  select * from unnest(${rows.map(({ of }) => of)}::bigint[], ${rows.map(({ shard }) => shard)}::integer[],
    ${rows.map(({ live }) => live)}::bigint[]) as g (counter, shard, live) order by 1, 2`;

/**
 * Counts claims and nonces, in the transaction's last statement: its rows are contended.
 * @throws NoRoom where a cap would be passed
 */
async function count(tx: Tx, kept: readonly Joining[]): Promise<void> {
  if (kept.length === 0) return;
  const claims = counts(
    kept.map(({ sender, claim, arrival }) => ({ of: sender, ...shardOf(claim, arrival.senderCap) })),
  );
  const nonces = counts(kept.flatMap(({ nonce }) => (nonce === undefined ? [] : [nonce.counter])));
  const live = await sql<{ claims: boolean; counter: number; shard: number; live: number }>`
    with c as (
      insert into adbind_sender_usage as u (sender, shard, live) ${added(claims)}
      on conflict (sender, shard) do update set live = u.live + excluded.live returning u.*
    ), n as (
      insert into adbind_nonce_usage as u (key, shard, live) ${added(nonces)}
      on conflict (key, shard) do update set live = u.live + excluded.live returning u.*
    )
    select true as claims, sender as counter, shard, live from c union all select false, key, shard, live from n`
    .kept()
    .rows(tx);
  const caps = (rows: readonly Count[]): Map<string, number> =>
    new Map(rows.map(({ of, shard, cap }) => [`${of} ${shard}`, cap]));
  const [ofClaims, ofNonces] = [caps(claims), caps(nonces)];
  const passed = live.some((row) => row.live > (row.claims ? ofClaims : ofNonces).get(`${row.counter} ${row.shard}`)!);
  if (passed) throw new NoRoom();
}
