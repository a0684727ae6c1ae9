/** Options checked and completed once, so that nothing downstream meets a bad one. */
import { metrics as otel, trace } from "@opentelemetry/api";
import type { Release } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { jsonLog, type Logger } from "../log.js";
import { canonicalUrl } from "../url.js";
import { validatorsFrom } from "../validate/source.js";
import type { AnyValidator } from "../validate/types.js";
import { type ReceiverMetrics, receiverMetrics } from "./metrics.js";
import { isHorizon, MIN_WINDOW_SECONDS, rememberedKeys } from "./remembered.js";
import { type ReceiverTraces, receiverTraces } from "./tracing.js";
import type { BoundRelease, ReceiverSettings, SenderConfig } from "./types.js";

/** Largest body in bytes: 1 MB (docs/protocol/webhooks.md#limits). */
const MAX_BODY_BYTES = 1_048_576;
const CONCURRENCY = 32;
const LEASE_SECONDS = 30;
const MAX_ATTEMPTS = 10;
const HANDLER_TIMEOUT_SECONDS = 60;
/** A body of a megabyte takes this long at 100 KB a second. */
const BODY_TIMEOUT_SECONDS = 10;
const BACKOFF_MS = 1_000;
const POLL_MS = 1_000;

export interface ReceiverConfig<Tx>
  extends Required<
    Omit<
      ReceiverSettings<Tx>,
      "senders" | "logger" | "meter" | "tracer" | "announcedWindow" | "validator" | "senderCap"
    >
  > {
  /** The machine's clock: who verifies a signature goes by no database. Unix milliseconds. */
  readonly verifiedAt: () => number;
  readonly validatorOf: (release: Release) => Promise<AnyValidator>;
  readonly releases: ReadonlyMap<string, BoundRelease<Tx>>;
  readonly defaultRelease: BoundRelease<Tx>;
  readonly rememberedOf: ReturnType<typeof rememberedKeys>;
  readonly senderOf: (sender: string) => SenderConfig | undefined;
  /** Those that do not come and go. */
  readonly knownSenders: readonly (readonly [sender: string, held: SenderConfig])[];
  readonly log: Logger;
  readonly metrics: ReceiverMetrics;
  readonly traces: ReceiverTraces;
}

const bad = (where: string, remedy: string): AdbindError =>
  new AdbindError("receiver_option_invalid", "the option cannot be used", { where, remedy });

/** Smallest value of each number among the options. */
const minima = {
  dedupWindowSeconds: 1,
  maxBodyBytes: 1,
  concurrency: 1,
  leaseSeconds: 1,
  maxAttempts: 1,
  handlerTimeoutSeconds: 1,
  bodyTimeoutSeconds: 1,
  backoffMs: 0,
  pollMs: 1,
} as const;

/**
 * Checks and completes a receiver's options.
 * @throws AdbindError `receiver_option_invalid`
 */
export function resolveSettings<Tx>(
  settings: ReceiverSettings<Tx>,
  bound: readonly BoundRelease<Tx>[],
): ReceiverConfig<Tx> {
  const numbers = {
    dedupWindowSeconds: settings.dedupWindowSeconds ?? MIN_WINDOW_SECONDS,
    maxBodyBytes: settings.maxBodyBytes ?? MAX_BODY_BYTES,
    concurrency: settings.concurrency ?? CONCURRENCY,
    leaseSeconds: settings.leaseSeconds ?? LEASE_SECONDS,
    maxAttempts: settings.maxAttempts ?? MAX_ATTEMPTS,
    handlerTimeoutSeconds: settings.handlerTimeoutSeconds ?? HANDLER_TIMEOUT_SECONDS,
    bodyTimeoutSeconds: settings.bodyTimeoutSeconds ?? BODY_TIMEOUT_SECONDS,
    backoffMs: settings.backoffMs ?? BACKOFF_MS,
    pollMs: settings.pollMs ?? POLL_MS,
  };
  for (const [name, least] of Object.entries(minima)) {
    const value = numbers[name as keyof typeof minima];
    if (!Number.isSafeInteger(value) || value < least) throw bad(name, `give a whole number of at least ${least}`);
  }
  if (numbers.dedupWindowSeconds < MIN_WINDOW_SECONDS && settings.announcedWindow !== true) {
    throw bad("dedupWindowSeconds", "keep keys 24 hours, or tell every sender and set announcedWindow");
  }
  const { senderCap } = settings;
  if (senderCap !== undefined && !(Number.isSafeInteger(senderCap) && senderCap > 0))
    throw bad("senderCap", "give a whole number of at least 1");
  const validatorOf = validatorsFrom(
    settings.validator,
    bound.map(({ release }) => release),
  );
  if (validatorOf === undefined) throw bad("validator", "give a function that has a validator for each release");
  const publicUrl = settings.publicUrl.replace(/\/+$/, "");
  const url = canonicalUrl(publicUrl, { unicodeHost: "refuse" });
  if (!url.ok || /[?#]/.test(publicUrl))
    throw bad("publicUrl", "give scheme, host and path, e.g. https://hooks.example");
  const knownSenders = typeof settings.senders.get === "function" ? [] : Object.entries(settings.senders);
  for (const [sender, { retryHorizonSeconds }] of knownSenders)
    if (!isHorizon(retryHorizonSeconds))
      throw bad(`senders.${sender}.retryHorizonSeconds`, "give 86400 to 604800, as the sender declares");
  return {
    store: settings.store,
    publicUrl,
    ignoreHost: settings.ignoreHost ?? false,
    ...numbers,
    rememberedOf: rememberedKeys(settings),
    maxBodyBytesOf: settings.maxBodyBytesOf ?? (() => undefined),
    now: settings.now ?? settings.store.now ?? Date.now,
    verifiedAt: settings.now ?? Date.now,
    random: settings.random ?? Math.random,
    validatorOf,
    ...releasesOf(bound),
    senderOf: senderLookup(settings.senders),
    knownSenders,
    log: settings.logger ?? jsonLog({ name: "adbind-receiver", level: "warn" }),
    metrics: receiverMetrics(settings.meter ?? otel.getMeter("adbind.receiver")),
    traces: receiverTraces(settings.tracer ?? trace.getTracer("adbind.receiver")),
  };
}

function releasesOf<Tx>(bound: readonly BoundRelease<Tx>[]) {
  const [defaultRelease] = bound;
  if (defaultRelease === undefined) throw bad("releases", "give at least one release");
  const releases = new Map(bound.map((one) => [one.release.version, one]));
  if (releases.size !== bound.length) throw bad("releases", "give each version once");
  const words = new Set(bound.map((one) => one.release.word));
  // The word names headers and tags, which are read before anything says which release they belong to.
  if (words.size > 1) throw bad("releases", "releases of different protocol words need a receiver each");
  for (const { release, handlers } of bound) {
    if (typeof handlers.fallback !== "function") throw bad("handlers.fallback", "give a handler for what has no other");
    checkTools(release, Object.keys(handlers.tools ?? {}));
  }
  return { releases, defaultRelease };
}

const checkTools = (release: Release, names: readonly string[]): void => {
  const unknown = names.filter((name) => !Object.hasOwn(release.tools, name));
  if (unknown.length > 0) throw bad("handlers.tools", `release ${release.version} has no tool ${unknown.join(", ")}`);
};

const senderLookup = (senders: ReceiverSettings<unknown>["senders"]) => {
  if (typeof senders.get === "function") return (name: string) => (senders as Map<string, SenderConfig>).get(name);
  const record = senders as Readonly<Record<string, SenderConfig>>;
  return (name: string) => (Object.hasOwn(record, name) ? record[name] : undefined);
};
