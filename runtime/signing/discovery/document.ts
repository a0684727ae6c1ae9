/**
 * A remote document that is used often and changes seldom: kept for as long as it may be, fetched once for all who wait,
 * renewed shortly before it runs out so that nobody has to wait in the steady state, and never used beyond its time.
 */
import type { MaybePromise } from "../../contract/index.js";

export type Load<T> =
  | {
      readonly ok: true;
      readonly value: T;
      /** Seconds the value may be used for. */
      readonly ttlSeconds: number;
    }
  | LoadFailure;

export interface LoadFailure {
  readonly ok: false;
  /**
   * `refused`: our own rules, or the document's content, say that it cannot serve; `absent`: the origin says there is
   * none (404, 410); `unreachable`: anything else.
   */
  readonly kind: "refused" | "absent" | "unreachable";
  readonly detail: string;
}

export type DocumentState<T> =
  | {
      readonly ok: true;
      readonly value: T;
      /** Fetched for this very call: a refresh would bring the same. */
      readonly fresh: boolean;
    }
  | (LoadFailure & { readonly retryAfterSeconds: number });

export interface RemoteDocument<T> {
  /** The document, without a promise when it is at hand. */
  get(): MaybePromise<DocumentState<T>>;
  /**
   * For something that ought to be in the document and is not: fetches again, once in `REFRESH_COOLDOWN_S` at most, so
   * that made-up names cannot be turned into requests. During that time it repeats what the last refresh found.
   */
  refresh(): MaybePromise<DocumentState<T>>;
  /** The last good value, however old. */
  last(): T | undefined;
}

export interface DocumentOptions<T> {
  readonly load: () => Promise<Load<T>>;
  /** Clock, unix seconds. */
  readonly now: () => number;
  /** Seconds between attempts while the origin fails and there is an older document; default 5. */
  readonly failureCooldownSeconds?: number;
  /** May callers fall back on this document, though expired? Then they need not wait for an origin that fails. */
  readonly lastIsUsable?: (last: T) => boolean;
}

/** docs/protocol/signing.md#key-sets: at most one refetch of a URI in this time, whatever keyids arrive. */
const REFRESH_COOLDOWN_S = 30;
/** Between attempts while an origin fails: soon enough for a blip, rare enough not to add to an outage. */
const FAILURE_COOLDOWN_S = 5;
/** Share of its life after which a document is renewed in the background. */
const RENEW_AFTER = 0.8;

/** A time by the clock, in unix seconds, for so many seconds. */
interface Span {
  readonly from: number;
  readonly seconds: number;
}

/** Of a span that begins later than now, since the clock was set back, nobody knows how much is left: it is over. */
const within = ({ from, seconds }: Span, now: number): boolean => now >= from && now < from + seconds;

interface Held<T> extends Span {
  readonly value: T;
}

/** Loads a document, one load at a time, and keeps what came of the last one. */
class Loading<T> {
  held: Held<T> | undefined;
  failure: (Span & { readonly reason: LoadFailure }) | undefined;
  running: Promise<DocumentState<T>> | undefined;

  constructor(readonly options: DocumentOptions<T>) {}

  get coolingDown(): boolean {
    return this.failure !== undefined && within(this.failure, this.options.now());
  }

  failed(): DocumentState<T> {
    const { reason, from, seconds } = this.failure as NonNullable<typeof this.failure>;
    const left = Math.min(seconds, from + seconds - this.options.now());
    return { ...reason, retryAfterSeconds: Math.max(1, Math.ceil(left)) };
  }

  start(): Promise<DocumentState<T>> {
    this.running ??= this.#run().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** Renews what is still good, unless that is under way or has just failed. */
  renew(): void {
    // What fails is kept as a failure; here is nobody to hear of it.
    if (this.running === undefined && !this.coolingDown) void this.start().catch(() => undefined);
  }

  async #run(): Promise<DocumentState<T>> {
    const { load, now, failureCooldownSeconds = FAILURE_COOLDOWN_S } = this.options;
    // A fetch that was handed in may throw; that is an outage like any other, not the end of the process.
    const loaded = await load().catch(
      (error: unknown): LoadFailure => ({
        ok: false,
        kind: "unreachable",
        detail: `the fetch threw: ${error instanceof Error ? error.message : String(error)}`,
      }),
    );
    const from = now();
    if (!loaded.ok) {
      const seconds = this.held === undefined ? FAILURE_COOLDOWN_S : failureCooldownSeconds;
      this.failure = { reason: loaded, from, seconds };
      return this.failed();
    }
    this.failure = undefined;
    const { value, ttlSeconds } = loaded;
    this.held = { value, from, seconds: ttlSeconds };
    return { ok: true, value, fresh: true };
  }
}

/** @see RemoteDocument */
export function remoteDocument<T>(options: DocumentOptions<T>): RemoteDocument<T> {
  const { now, lastIsUsable = () => false } = options;
  const loading = new Loading(options);
  let refreshedAt = Number.NEGATIVE_INFINITY;
  let refreshFailed = false;
  return {
    get() {
      const at = now();
      const { held, failure, running } = loading;
      if (held !== undefined && within(held, at)) {
        if (at >= held.from + held.seconds * RENEW_AFTER) loading.renew();
        return { ok: true, value: held.value, fresh: false };
      }
      if (failure !== undefined && held !== undefined && lastIsUsable(held.value)) {
        loading.renew();
        return loading.failed();
      }
      if (running !== undefined) return running;
      return loading.coolingDown ? loading.failed() : loading.start();
    },
    refresh() {
      const at = now();
      const { held, failure, running } = loading;
      if (running !== undefined) return running;
      if (within({ from: refreshedAt, seconds: REFRESH_COOLDOWN_S }, at)) {
        if (refreshFailed && failure !== undefined) return loading.failed();
        return held === undefined ? loading.failed() : { ok: true, value: held.value, fresh: false };
      }
      refreshedAt = at;
      return loading.start().then((state) => {
        refreshFailed = !state.ok;
        return state;
      });
    },
    last: () => loading.held?.value,
  };
}
