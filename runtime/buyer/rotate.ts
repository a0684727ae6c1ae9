/**
 * Credentials of persistent webhooks that are not signed, renewed before they expire
 * (docs/protocol/webhooks.md#persistent-channels). Signed webhooks need none of it.
 */
import { randomBytes } from "node:crypto";
import type { Answer, AnyArms, JsonObject, MaybePromise } from "../contract/index.js";
import { safely } from "../listener.js";
import { timerMs } from "../timers.js";
import type { Buyer } from "./create.js";
import { badBuyerOption } from "./settings.js";

/** Bytes of a new credential; 43 characters, above the 32 that are asked for. */
const CREDENTIAL_BYTES = 32;
/** How long before the expiry credentials are renewed, in milliseconds: a day. */
const BEFORE_MS = 86_400_000;
/** How long the old ones are good after the change: docs/protocol/webhooks.md#persistent-channels, 5. */
const OVERLAP_MS = 300_000;
/** After a failure, in milliseconds: an hour leaves many tries in a day. */
const RETRY_MS = 3_600_000;

/** After a receiver could not be told to refuse the old ones, in milliseconds: they should not be good for long. */
const RETIRE_RETRY_MS = 60_000;

/** The credentials of a channel: the ones that take over, and the ones before. */
export interface Credentials {
  readonly next: string;
  readonly previous: string;
}

/** Which webhook's credentials to renew, when, and where the receiver learns of them. Times are unix milliseconds. */
export interface RotationOptions {
  /** Has the tool `update_media_buy`. */
  readonly buyer: Pick<Buyer, "call">;
  readonly mediaBuyId: string;
  readonly account?: JsonObject;
  /** The channel's own configuration as registered, credentials included. */
  readonly channel: "push_notification_config" | "reporting_webhook";
  readonly config: JsonObject;
  /** When the credentials end, unix milliseconds. */
  readonly expiresAt: number;
  /** How long before that they are renewed, in milliseconds. Default a day. */
  readonly beforeMs?: number;
  /** How long new credentials are good, in milliseconds. */
  readonly lifetimeMs: number;
  /**
   * Makes the receiver accept both. Called before the seller hears of the new ones, and again when the next try has
   * others. What it stores must survive a restart.
   */
  readonly accept: (credentials: Credentials) => MaybePromise<void>;
  /** Makes the receiver refuse the old ones. Called five minutes after the seller has acknowledged. */
  readonly retire: (previous: string) => MaybePromise<void>;
  /** Told of each try to renew or to retire that failed; it is repeated: renewing after an hour, retiring after a minute. */
  readonly onFailure?: (answer: Answer<AnyArms> | Error) => void;
  /** Makes credentials; 32 random bytes as base64url by default. */
  readonly makeCredentials?: () => string;
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
}

/** What became of a rotation: new credentials, not due yet, or why it failed. */
export type Rotated =
  | { readonly rotated: true; readonly credentials: string; readonly expiresAt: number }
  | { readonly rotated: false; readonly reason: "not_due" }
  /** The old credentials go on; the new ones are accepted too, since the seller may have taken them. */
  | { readonly rotated: false; readonly reason: "failed"; readonly answer: Answer<AnyArms> };

/** Renews the credentials of a persistent webhook before they expire. */
export interface Rotation {
  /** When the next rotation is due, unix milliseconds. */
  readonly dueAt: number;
  /** Rotates if it is due. A try that failed is repeated with the same credentials and the same idempotency key. */
  run(): Promise<Rotated>;
  /** Runs whenever it is due, in this process. */
  start(): void;
  stop(): void;
}

const errorOf = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** Old credentials that are refused once their time has come. */
class Retiring {
  readonly #waiting = new Set<{ readonly previous: string; at: number }>();

  constructor(
    readonly options: RotationOptions,
    readonly now: () => number,
    readonly tell: (failure: Error) => void,
  ) {}

  /** Unix milliseconds, one of each that waits. */
  get times(): readonly number[] {
    return [...this.#waiting].map(({ at }) => at);
  }

  add(previous: string): void {
    this.#waiting.add({ previous, at: this.now() + OVERLAP_MS });
  }

  /** What cannot be retired now is tried again; it holds up neither the others nor the rotation. */
  async due(): Promise<void> {
    for (const one of [...this.#waiting].filter(({ at }) => at <= this.now())) {
      try {
        await this.options.retire(one.previous);
        this.#waiting.delete(one);
      } catch (error) {
        one.at = this.now() + RETIRE_RETRY_MS;
        this.tell(errorOf(error));
      }
    }
  }
}

/** Asks the seller to take new credentials. @param key of an earlier try */
function asked({ buyer, mediaBuyId, account, channel, config }: RotationOptions, credentials: string, key?: string) {
  const { schemes } = config.authentication as { schemes: unknown };
  const request = {
    media_buy_id: mediaBuyId,
    ...(account !== undefined && { account }),
    [channel]: { ...config, authentication: { schemes, credentials } },
    ...(key !== undefined && { idempotency_key: key }),
  };
  return buyer.call("update_media_buy", request, { webhook: false });
}

/** @returns the credentials that hold now */
function checkedCredentials({ config, lifetimeMs, beforeMs = BEFORE_MS }: RotationOptions): string {
  const held = config.authentication as { schemes?: unknown; credentials?: unknown } | undefined;
  if (typeof held?.credentials !== "string" || !Array.isArray(held.schemes))
    throw badBuyerOption("config.authentication", "a signed webhook has no credentials to renew: leave it alone");
  if (!(lifetimeMs > beforeMs)) throw badBuyerOption("lifetimeMs", "give more than beforeMs");
  return held.credentials;
}

/** Runs a rotation whenever it is due, and again soon where it failed. @param at when to wake next, in unix milliseconds */
function rotationTimer(
  {
    now,
    at,
    tell,
  }: { now: () => number; at: (failed: boolean) => number; tell: (failure: Answer<AnyArms> | Error) => void },
  run: () => Promise<Rotated>,
): Pick<Rotation, "start" | "stop"> {
  let timer: NodeJS.Timeout | undefined;
  function arm(failed: boolean): void {
    // A long wait is made of several.
    timer = setTimeout(
      () => turn().catch((error: unknown) => tell(errorOf(error))),
      timerMs(Math.max(0, at(failed) - now())),
    ).unref();
  }
  async function turn(): Promise<void> {
    let failed = false;
    try {
      const rotated = await run();
      failed = !rotated.rotated && rotated.reason === "failed";
      if (!rotated.rotated && rotated.reason === "failed") tell(rotated.answer);
    } catch (error) {
      failed = true;
      tell(errorOf(error));
    }
    if (timer !== undefined) arm(failed);
  }
  return {
    start() {
      if (timer === undefined) arm(false);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** @throws AdbindError `buyer_option_invalid` where the channel has no credentials to renew */
export function createRotation(options: RotationOptions): Rotation {
  const { now = Date.now, beforeMs = BEFORE_MS, lifetimeMs } = options;
  const state = { current: checkedCredentials(options), expiresAt: options.expiresAt };
  const makeCredentials = options.makeCredentials ?? (() => randomBytes(CREDENTIAL_BYTES).toString("base64url"));
  let pending: { next: string; key: string | undefined } | undefined;
  let running: Promise<Rotated> | undefined;
  const tell = (failure: Answer<AnyArms> | Error): void => safely(() => options.onFailure?.(failure));
  const retiring = new Retiring(options, now, tell);
  const dueAt = (): number => state.expiresAt - beforeMs;

  async function rotate(): Promise<Rotated> {
    await retiring.due();
    if (now() < dueAt()) return { rotated: false, reason: "not_due" };
    pending ??= { next: makeCredentials(), key: undefined };
    await options.accept({ next: pending.next, previous: state.current });
    const called = await asked(options, pending.next, pending.key);
    const answer = await called.waitForCompletion();
    if (answer.status !== "completed") {
      pending = { ...pending, key: called.idempotencyKey };
      return { rotated: false, reason: "failed", answer };
    }
    retiring.add(state.current);
    Object.assign(state, { current: pending.next, expiresAt: now() + lifetimeMs });
    pending = undefined;
    return { rotated: true, credentials: state.current, expiresAt: state.expiresAt };
  }

  const run = (): Promise<Rotated> => {
    running ??= rotate().finally(() => {
      running = undefined;
    });
    return running;
  };
  const at = (failed: boolean): number => Math.min(failed ? now() + RETRY_MS : dueAt(), ...retiring.times);
  return {
    get dueAt() {
      return dueAt();
    },
    run,
    ...rotationTimer({ now, at, tell }, run),
  };
}
