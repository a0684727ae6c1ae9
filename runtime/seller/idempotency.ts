/** Idempotency of mutating calls (docs/protocol/errors.md#idempotency): durable, shared by every instance on the store. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import canonicalize from "canonicalize";
import { type AnyTool, isJsonObject, type JsonObject } from "../contract/index.js";
import type { Coroutine } from "../db/coroutine.js";
import { createPeriodic, type Telling } from "../queue/periodic.js";
import { callScope } from "../store/keys.js";
import type { HeldCall, SellerDatabase } from "../store/seller-tables.js";
import { ToolError } from "./tool-error.js";

export interface IdempotencyOptions<Tx> {
  readonly database: SellerDatabase<Tx>;
  readonly now: () => number;
  readonly uuid: () => string;
  /** How long an answer is replayed, in milliseconds. */
  readonly replayMs: number;
  /** How long a call waits for another one with its key, in milliseconds. */
  readonly waitMs: number;
  /** Told when a call under way cannot keep its key. */
  readonly telling: Telling;
  /** How often a call under way renews its claim, in milliseconds; a third of the time that a claim lasts by default. */
  readonly renewMs?: number;
}

/** A key that is this call's to answer. */
export interface Claim<Tx> {
  /**
   * Records the answer, in the transaction of everything else it writes.
   * @throws ToolError IDEMPOTENCY_IN_FLIGHT where the claim went to another instance
   */
  answer(tx: Tx, answer: JsonObject): Coroutine<void>;
  /** Lets the key be used again: errors are not remembered. */
  release(): Promise<void>;
  /** Ends the upkeep of the claim; never rejects. */
  stop(): Promise<void>;
}

export type Claimed<Tx> =
  | { readonly kind: "mine"; readonly claim: Claim<Tx> }
  | { readonly kind: "replay"; readonly answer: JsonObject };

/** How long a call is its owner's without news of it; renewed at a third. A crashed owner's key is free after it. */
const LEASE_MS = 30_000;
/** Clocks of instances differ: an answer is replayed this much longer than was promised. */
const TOLERANCE_MS = 60_000;
/** A key that is no longer replayed is remembered this long, to be told from one never seen. */
const REMEMBER_MS = 7 * 86_400_000;
const POLL_MS = { first: 10, max: 200 } as const;

/** The key a call is recognised by; tools that need none do not look at one. */
export const keyOf = ({ idempotency }: AnyTool, { idempotency_key: key }: JsonObject): string | undefined =>
  (idempotency === "required" || idempotency === "optional") && typeof key === "string" ? key : undefined;

/** A key as it is kept: another account's is another one. */
export const keyIn = (account: unknown, key: string): string =>
  `${account === undefined ? "-" : digest(canonicalize(account) ?? "")} ${key}`;

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Digest of what a request asks for, by RFC 8785; what may differ between two tries of one request is left out. */
export function requestHash(tool: string, request: JsonObject): string {
  const { idempotency_key: _key, context: _context, governance_context: _governance, ...rest } = request;
  const config = rest.push_notification_config;
  if (isJsonObject(config) && isJsonObject(config.authentication)) {
    const { credentials: _credentials, ...authentication } = config.authentication;
    rest.push_notification_config = { ...config, authentication };
  }
  return digest(`${tool}\0${canonicalize(rest)}`);
}

/**
 * Claims a key, or finds its answer; waits a while for one that is under way.
 * @throws ToolError IDEMPOTENCY_CONFLICT, IDEMPOTENCY_EXPIRED, IDEMPOTENCY_IN_FLIGHT
 */
export async function claimKey<Tx>(
  options: IdempotencyOptions<Tx>,
  of: { readonly principal: string; readonly key: string; readonly hash: string },
): Promise<Claimed<Tx>> {
  const { principal } = of;
  const held: HeldCall = { scope: callScope(principal), key: of.key, owner: options.uuid() };
  const until = performance.now() + options.waitMs;
  for (let pause: number = POLL_MS.first; ; pause = Math.min(pause * 2, POLL_MS.max)) {
    const found = await options.database.transact({ principal }, (tx) => claimFlow(options, tx, held, of));
    if (found === "mine") return { kind: "mine", claim: claimOf(options, held, principal) };
    if ("answer" in found) return { kind: "replay", answer: JSON.parse(found.answer) };
    if (performance.now() + pause > until) throw inFlight(found.leaseMs);
    await sleep(pause);
  }
}

/** @param leaseMs how long the key is still held by the first call, should nothing more be heard of it */
const inFlight = (leaseMs: number): ToolError =>
  new ToolError("IDEMPOTENCY_IN_FLIGHT", "The first call with this idempotency_key is still being answered.", {
    retry_after: Math.max(1, Math.ceil(leaseMs / 1_000)),
  });

function* claimFlow<Tx>(
  { database: { tables }, now, replayMs }: IdempotencyOptions<Tx>,
  tx: Tx,
  held: HeldCall,
  { hash, principal }: { readonly hash: string; readonly principal: string },
): Coroutine<"mine" | { readonly leaseMs: number } | { readonly answer: string }> {
  const at = now();
  const times = { replay_until: at + replayMs + TOLERANCE_MS, forget_at: at + replayMs + REMEMBER_MS };
  const added = yield* tables.addCall(tx, { ...held, principal, hash, answer: null, ...times }, LEASE_MS);
  if (added.length > 0) return "mine";
  const [row] = yield* tables.call(tx, held.scope, held.key);
  // Removed between the two: the next try adds it.
  if (row === undefined) return { leaseMs: 0 };
  if (row.owner === null && (row.answer === null || row.replay_until < at)) {
    throw new ToolError("IDEMPOTENCY_EXPIRED", "The answer to this idempotency_key is no longer kept.");
  }
  // Nothing more is said: a stolen key must not read what was sent under it.
  if (row.hash !== hash) {
    throw new ToolError("IDEMPOTENCY_CONFLICT", "This idempotency_key was used with another request.");
  }
  if (row.answer !== null) return { answer: row.answer };
  const { lease_left: leaseMs, owner } = row;
  if (leaseMs >= 0) {
    // The database's clock was set back since: a call that nobody answers any more would be under way until it is as late again;
    // whoever still answers it renews.
    if (leaseMs > LEASE_MS && owner !== null) yield* tables.renewCall(tx, { ...held, owner }, LEASE_MS);
    return { leaseMs: Math.min(leaseMs, LEASE_MS) };
  }
  yield* tables.takeCall(tx, { ...held, hash }, LEASE_MS);
  return "mine";
}

function claimOf<Tx>(
  { database, now, replayMs, telling, renewMs = LEASE_MS / 3 }: IdempotencyOptions<Tx>,
  held: HeldCall,
  principal: string,
): Claim<Tx> {
  const { tables, transact } = database;
  const renewal = createPeriodic({
    pauseMs: renewMs,
    firstPause: true,
    steps: [
      {
        name: "keep hold of an idempotency key",
        meanwhile: "another instance may run the call too once its lease is over, and only one of them is recorded",
        run: () => transact({ principal }, (tx) => tables.renewCall(tx, held, LEASE_MS)),
      },
    ],
    telling,
  });
  renewal.start();
  return {
    *answer(tx, answer): Coroutine<void> {
      const at = now();
      const times = { replay_until: at + replayMs + TOLERANCE_MS, forget_at: at + replayMs + REMEMBER_MS };
      const kept = yield* tables.answerCall(tx, held, JSON.stringify(answer), times);
      if (kept.length === 0) throw inFlight(LEASE_MS);
    },
    async release() {
      await transact({ principal }, function* (tx): Coroutine<void> {
        yield* tables.dropCall(tx, held);
      });
    },
    stop: () => renewal.stop(),
  };
}
