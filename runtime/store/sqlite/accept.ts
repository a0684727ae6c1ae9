/** An event into the inbox, once. */
import type { Database } from "better-sqlite3";
import { BLOCKED_DUE_MS, TOKEN_ERROR, tokenFits } from "../rows.js";
import type { AcceptOutcome, Arrival } from "../types.js";
import type { Claims } from "./claims.js";
import type { Nonces } from "./nonces.js";
import type { Notifications } from "./notifications.js";
import type { SqliteRegistrations } from "./registrations.js";
import type { SqliteSenders } from "./senders.js";
import type { SqliteTasks } from "./tasks.js";

export interface AcceptDependencies {
  readonly db: Database;
  readonly senders: SqliteSenders;
  readonly claims: Claims;
  readonly tasks: SqliteTasks;
  readonly notifications: Notifications;
  readonly registrations: SqliteRegistrations;
  readonly nonces: Nonces;
}

/** Where an event stands among those of its task; `first` says that there are no others. */
interface Ordering {
  readonly orderingKey: string | null;
  readonly first: boolean;
}

const INSERT =
  "insert into adbind_inbox (state, sender, key, route, kind, release, format, task_type, task_id, operation_id, " +
  "status, instant, notification_id, reemission, received_at, due, owner, error, notes, traceparent, token_digest, ordering_key, " +
  `body) values (${Array(23).fill("?").join(", ")})`;

/** Was what an event tells told before, under another key? At the bound it is taken all the same: its own key is claimed. */
const toldBefore = (claims: Claims, sender: number, { once, ...arrival }: Arrival): boolean =>
  once !== undefined &&
  typeof claims.claim(sender, { ...arrival, event: { ...arrival.event, key: once } }) === "object";

const BEFORE = "select 1 from adbind_inbox where state = 'pending' and sender = ? and ordering_key = ? limit 1";

/** Where an accepted event begins: parked, behind others of its task, due at once, or given up. */
const placer = ({ db, registrations }: AcceptDependencies) => {
  const before = db.prepare(BEFORE);
  return (arrival: Arrival, sender: number, { orderingKey, first }: Ordering) => {
    const { event, now, lease, tokenDigest = null } = arrival;
    if (arrival.unfit !== undefined) return { state: "dead", due: now, error: arrival.unfit } as const;
    if (!arrival.registered) {
      const late = registrations.lookup(event.route, event.operationId);
      if (late === undefined) return { state: "parked", due: now + arrival.windowSeconds * 1000 } as const;
      if (!tokenFits(late.tokenDigest, tokenDigest)) return { state: "dead", due: now, error: TOKEN_ERROR } as const;
    }
    if (orderingKey !== null && !first && before.get(sender, orderingKey) !== undefined) {
      return { state: "pending", due: BLOCKED_DUE_MS } as const;
    }
    return lease === undefined
      ? ({ state: "pending", due: now } as const)
      : ({ state: "pending", due: lease.until, owner: lease.owner } as const);
  };
};

/** Claim, order, park or queue: the transaction behind every 2xx. */
export const acceptor = (dependencies: AcceptDependencies) => {
  const { db, senders, claims, tasks, notifications, nonces } = dependencies;
  const place = placer(dependencies);
  const insert = db.prepare(INSERT);

  return (arrival: Arrival): AcceptOutcome => {
    const { event, now, order } = arrival;
    const used = arrival.nonce === undefined ? "inserted" : nonces.use(arrival.nonce);
    if (used !== "inserted") return { outcome: used === "seen" ? "replayed" : "rate_abuse" };
    const sender = senders.idOf(event.sender);
    const claim = claims.claim(sender, arrival);
    if (claim === "full") {
      if (arrival.nonce !== undefined) nonces.giveBack(arrival.nonce);
      return { outcome: "full" };
    }
    if (claim !== "fresh") return { outcome: "duplicate", changed: claim.changed };
    if (toldBefore(claims, sender, arrival)) return { outcome: "duplicate", changed: false };
    const ordered = order !== undefined && event.taskId !== null && arrival.unfit === undefined;
    let first = true;
    if (ordered) {
      const result = tasks.apply(sender, event.taskId, order, now);
      if (!result.applied) return result.stale;
      first = result.first;
    }
    const reemission = event.notificationId !== null && notifications.seen(sender, event.notificationId, now);
    // A first event that ends its task has nothing before it, and nothing can come after.
    const alone = first && order?.terminal === true;
    const orderingKey = ordered && !alone ? event.taskId : null;
    const {
      state,
      due,
      owner = null,
      error = null,
    } = { owner: null, error: null, ...place(arrival, sender, { orderingKey, first }) };
    const { lastInsertRowid } = insert.run(
      ...[state, sender, event.key, event.route, event.kind, event.release, event.format, event.taskType],
      ...[event.taskId, event.operationId, event.status, event.instant, event.notificationId, Number(reemission)],
      ...[event.receivedAt, due, owner, error, JSON.stringify(event.notes), event.traceparent],
      ...[arrival.tokenDigest ?? null, orderingKey, event.body],
    );
    return {
      outcome: "accepted",
      id: Number(lastInsertRowid),
      parked: state === "parked",
      leased: owner !== null,
      reemission,
      unfit: arrival.unfit !== undefined,
    };
  };
};
