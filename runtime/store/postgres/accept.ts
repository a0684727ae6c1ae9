/** Claim, order, park or queue: the transaction behind every 2xx. */
import { rowValues, sql } from "../../db/postgres/sql.js";
import { claimDigest } from "../keys.js";
import { BLOCKED_DUE_MS, NOTIFICATION_RETENTION_MS, TOKEN_ERROR, tokenFits } from "../rows.js";
import type { AcceptOutcome, Arrival } from "../types.js";
import { acceptTogether, joins } from "./accept-together.js";
import { type Counting, claim, countClaim, expireClaims } from "./claims.js";
import type { ExpiryTime } from "./clock.js";
import type { Guarded } from "./guarded.js";
import type { Nonces, PreparedNonce } from "./nonces.js";
import { lockRoute, lookup, orderingKeyBusy } from "./registrations.js";
import type { PostgresSenders } from "./senders.js";
import type { Db, Tx } from "./tables.js";
import { applyOrder } from "./tasks.js";

/** Expired claims removed when a sender is full: a bounded pause, and the regular sweep does the rest. */
const FULL_SWEEP_ROWS = 2000;

/** An arrival, and what time it is for what expires. */
type Dated = Arrival & { readonly expiredAt: number };

/** Leaves the transaction with nothing kept. */
class Refused extends Error {
  constructor(readonly outcome: "full" | "rate_abuse") {
    super(outcome);
  }
}

export interface AcceptDependencies {
  readonly senders: PostgresSenders;
  readonly nonces: Nonces;
  readonly time: ExpiryTime;
  readonly guard: Guarded;
}

/** Accepts events: those that come at the same time together where they may, any other by itself. */
export const acceptor = (db: Db, dependencies: AcceptDependencies) => {
  const { senders, nonces, guard } = dependencies;
  const alone = acceptorOfOne(db, dependencies);
  const together = acceptTogether(db, guard, alone);
  return async (arrival: Arrival): Promise<AcceptOutcome> => {
    // Asked outside of the transaction, which must not wait for another connection.
    const sender = await senders.idOf(arrival.event.sender);
    const nonce = arrival.nonce && (await nonces.prepare(arrival.nonce));
    const claim = claimDigest(arrival.event.key);
    return joins(arrival) ? together({ arrival, sender, claim, nonce }) : alone({ arrival, sender, nonce });
  };
};

interface Prepared {
  readonly arrival: Arrival;
  readonly sender: number;
  readonly nonce: PreparedNonce | undefined;
}

/** Accepts one event; on a full keyspace, expired claims make room and it is tried once more. */
const acceptorOfOne =
  (db: Db, { time, guard }: AcceptDependencies) =>
  async ({ arrival: given, sender, nonce }: Prepared): Promise<AcceptOutcome> => {
    const arrival = { ...given, expiredAt: await time(given.now) };
    const attempt = async (): Promise<AcceptOutcome> => {
      try {
        return await db.transaction(async (tx) => {
          await guard.sender(tx, arrival.event.sender);
          return accept(tx, sender, arrival, nonce);
        });
      } catch (error) {
        if (error instanceof Refused) return { outcome: error.outcome };
        throw error;
      }
    };
    const first = await attempt();
    if (first.outcome !== "full" || (await expireClaims(db, arrival.expiredAt, FULL_SWEEP_ROWS)) === 0) return first;
    return attempt();
  };

async function accept(
  tx: Tx,
  sender: number,
  arrival: Dated,
  nonce: PreparedNonce | undefined,
): Promise<AcceptOutcome> {
  const used = await nonce?.put(tx);
  if (used === "seen") return { outcome: "replayed" };
  const { outcome, claimed } = await claimAndIngest(tx, sender, arrival);
  await count(tx, claimed, used === "fresh" ? nonce!.count : undefined);
  return outcome;
}

/**
 * Counts a claim and a nonce in one statement, the transaction's last: its rows are contended.
 * @throws Refused where there is no room
 */
async function count(tx: Tx, claimed: Counting | undefined, nonce: Counting | undefined): Promise<void> {
  if (claimed === undefined && nonce === undefined) return;
  const none = sql<{ live: number }>`select 0 as live`;
  const { claims, nonces } = (await sql<Record<"claims" | "nonces", number>>`
    with a as (${claimed ?? none}), b as (${nonce ?? none})
    select (select count(*) from a)::integer as claims, (select count(*) from b)::integer as nonces`.first(tx))!;
  if (claims === 0) throw new Refused("full");
  if (nonces === 0) throw new Refused("rate_abuse");
}

interface Kept {
  readonly outcome: AcceptOutcome;
  /** What counts the claim, where it is a new one. */
  readonly claimed?: Counting;
}

async function claimAndIngest(tx: Tx, sender: number, arrival: Dated): Promise<Kept> {
  const claimed = await claim(tx, sender, arrival);
  if (typeof claimed === "object") return { outcome: { outcome: "duplicate", changed: claimed.changed } };
  const further = arrival.once === undefined ? undefined : onceOf(arrival, arrival.once);
  const twice = further && (await claim(tx, sender, further));
  const outcome: AcceptOutcome =
    typeof twice === "object" ? { outcome: "duplicate", changed: false } : await keep(tx, sender, arrival);
  // Both may be counted in one row, which a statement changes once.
  if (twice === "fresh") await count(tx, countClaim(sender, further!), undefined);
  return { outcome, ...(claimed === "fresh" && { claimed: countClaim(sender, arrival) }) };
}

/** The claim of what an event tells, beside that of its key. */
const onceOf = (arrival: Dated, key: string): Dated => ({ ...arrival, event: { ...arrival.event, key } });

async function keep(tx: Tx, sender: number, arrival: Dated): Promise<AcceptOutcome> {
  const { event, now, order } = arrival;
  // Route, then task, then event: the order in which a registration locks them.
  if (!arrival.registered) await lockRoute(tx, event.route);
  const ordered = order !== undefined && event.taskId !== null && arrival.unfit === undefined;
  const applied = ordered
    ? await applyOrder(tx, { sender, taskId: event.taskId, operationId: order.operation }, order, now)
    : undefined;
  if (typeof applied === "object") return { outcome: "stale", ...applied };
  const reemission = event.notificationId !== null && (await seen(tx, sender, event.notificationId, now));
  // A first event that ends its task has nothing before it, and nothing can come after.
  const alone = applied === "first" && order?.terminal === true;
  const orderingKey = ordered && !alone ? event.taskId : null;
  const place = { owner: null, error: null, ...(await placeOf(tx, sender, arrival, orderingKey)) };
  const row = { ...rowOf(arrival, sender), ...place, reemission, ordering_key: orderingKey };
  const kept = await sql<{ id: number }>`insert into adbind_inbox ${rowValues(row)} returning id`.first(tx);
  return {
    outcome: "accepted",
    id: kept!.id,
    parked: place.state === "parked",
    leased: place.owner !== null,
    reemission,
    ...(arrival.unfit !== undefined && { unfit: true }),
  };
}

const rowOf = ({ event, tokenDigest }: Arrival, sender: number) => ({
  sender,
  key: event.key,
  route: event.route,
  kind: event.kind,
  release: event.release,
  format: event.format,
  task_type: event.taskType,
  task_id: event.taskId,
  operation_id: event.operationId,
  status: event.status,
  instant: event.instant,
  notification_id: event.notificationId,
  received_at: event.receivedAt,
  notes: JSON.stringify(event.notes),
  traceparent: event.traceparent,
  token_digest: tokenDigest ?? null,
  body: event.body,
});

async function seen(tx: Tx, sender: number, notificationId: string, now: number): Promise<boolean> {
  const expires = now + NOTIFICATION_RETENTION_MS;
  const added = await sql`
    insert into adbind_notifications (sender, notification_id, expires) values (${sender}, ${notificationId}, ${expires})
    on conflict do nothing`.run(tx);
  if (added > 0) return false;
  await sql`
    update adbind_notifications set expires = ${expires}
    where sender = ${sender} and notification_id = ${notificationId}`.run(tx);
  return true;
}

interface Place {
  readonly state: "pending" | "parked" | "dead";
  readonly due: number;
  readonly owner?: string;
  readonly error?: string;
}

async function placeOf(tx: Tx, sender: number, arrival: Dated, orderingKey: string | null): Promise<Place> {
  const { event, now, lease, tokenDigest = null, unfit } = arrival;
  if (unfit !== undefined) return { state: "dead", due: now, error: unfit };
  if (!arrival.registered) {
    const late = await lookup(tx, event.route, event.operationId);
    if (late === undefined) return { state: "parked", due: now + arrival.windowSeconds * 1000 };
    if (!tokenFits(late.tokenDigest, tokenDigest)) return { state: "dead", due: now, error: TOKEN_ERROR };
  }
  if (orderingKey !== null && (await orderingKeyBusy(tx, sender, orderingKey)))
    return { state: "pending", due: BLOCKED_DUE_MS };
  return lease === undefined
    ? { state: "pending", due: now }
    : { state: "pending", due: lease.until, owner: lease.owner };
}
