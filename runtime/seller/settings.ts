/** A seller's options, judged: what cannot work is refused before anything is served. */
import { randomUUID } from "node:crypto";
import { type Tracer, trace } from "@opentelemetry/api";
import type { AnyTool, JsonObject, MaybePromise, Release, TransportName } from "../contract/index.js";
import { shortVersion, specialismChecks, transportNames } from "../contract/index.js";
import { compareVersions } from "../contract/version-order.js";
import { AdbindError } from "../errors.js";
import type { Logger } from "../log.js";
import type { Sender } from "../sender/sender.js";
import { capabilityFault } from "../signing/index.js";
import type { A2aProfile, ListingOptions } from "../transport/answerer.js";
import { canonicalUrl } from "../url.js";
import { validatorsFrom } from "../validate/source.js";
import type { AnyValidator } from "../validate/types.js";
import { openAuth } from "./auth.js";
import { type SellerMetrics, sellerMetrics } from "./metrics.js";
import type {
  AuthHook,
  InvalidAnswer,
  NamesAccount,
  RequestSigningOptions,
  SellerHandler,
  SellerLimits,
  SellerOptions,
  SellerSigning,
  SellerStore,
  UnfinishedTask,
} from "./types.js";

export interface SellerSettings<Tx> {
  /** Newest first. */
  readonly releases: readonly Release[];
  /** The one that the handlers are written in. */
  readonly written: Release;
  readonly specialisms: readonly string[];
  readonly handlers: ReadonlyMap<string, SellerHandler<AnyTool, Tx>>;
  readonly store: SellerStore;
  readonly sender: Sender | undefined;
  readonly signing: SellerSigning | undefined;
  /** Without a path or a slash at its end. */
  readonly baseUrl: string;
  readonly name: string;
  readonly description: string;
  /** Undefined where everybody is let in. */
  readonly auth: AuthHook | undefined;
  /** Signatures are all that callers are known by, and nobody said that others may come in: they change nothing. */
  readonly signedChanges: boolean;
  readonly requestSigning: RequestSigningOptions | undefined;
  readonly unchecked: ReadonlySet<string>;
  readonly judgedByHandler: Readonly<Record<string, readonly string[]>>;
  readonly accountNamed: NamesAccount;
  readonly capabilities: (release: Release) => JsonObject;
  readonly replayTtlSeconds: number;
  readonly limits: Required<SellerLimits>;
  readonly listing: ListingOptions | undefined;
  readonly transports: readonly TransportName[];
  readonly a2aProfile: A2aProfile | undefined;
  readonly cancelTask: ((task: UnfinishedTask) => MaybePromise<boolean>) | undefined;
  readonly resume: SellerOptions["resume"] | undefined;
  readonly origins: ReadonlySet<string>;
  readonly trustProxy: boolean | string | string[];
  readonly mode: "development" | "production";
  readonly onInvalidAnswer: ((report: InvalidAnswer) => void) | undefined;
  readonly now: () => number;
  /** The machine's clock: who verifies a signature goes by no database. Unix milliseconds. */
  readonly verifiedAt: () => number;
  readonly uuid: () => string;
  readonly logger: Logger | undefined;
  readonly metrics: SellerMetrics;
  readonly tracer: Tracer;
  readonly audit: SellerOptions["audit"];
  readonly validatorOf: (release: Release) => Promise<AnyValidator>;
}

/** What answers of capable sellers are kept for, in seconds (docs/protocol/errors.md#idempotency). */
const REPLAY_TTL = { min: 3_600, default: 86_400, max: 604_800 } as const;
/** 1 MiB: requests of the protocol are a few KiB. */
const BODY_BYTES = 1_048_576;
/** Levels; real requests reach about 10. */
const DEPTH = 64;
/** Calls in ten seconds (docs/protocol/errors.md#rates). */
const CALLS = { reads: 1_500, writes: 300 } as const;
const IN_FLIGHT_WAIT_MS = 2_000;
/** Where a seller without an address is: nobody else reaches it. */
const THIS_MACHINE = "http://127.0.0.1";
/** Forces states for tests: a seller in production must not have it, whatever its specialisms name. */
const CONTROLLER = "comply_test_controller";

export const badSellerOption = (
  where: string,
  remedy: string,
  what = "an option of a seller cannot be used",
): AdbindError => new AdbindError("seller_option_invalid", what, { where, remedy });

/** Tools a seller answers by itself, unless the application gives a handler of its own. */
export const builtInNames = (release: Release) => ({
  capabilities: ["get_agent_capabilities", `get_${release.word}_capabilities`],
  task: ["get_task_status", "tasks_get", "tasks/get"],
  tasks: ["list_tasks", "tasks_list", "tasks/list"],
});

/** @throws AdbindError `seller_option_invalid` */
export function checkedSellerSettings<Tx>(options: object): SellerSettings<Tx> {
  const given = options as SellerOptions;
  const releases = releasesOf(given);
  const handlers = handlersOf<Tx>(given, releases);
  const { replayTtlSeconds = REPLAY_TTL.default, name = "A seller" } = given;
  const mode = given.mode ?? (given.baseUrl === undefined ? "development" : "production");
  const specialisms = checkedSpecialisms(given, handlers, mode);
  if (mode === "production") refuseOpen(given, handlers, releases);
  if (!(replayTtlSeconds >= REPLAY_TTL.min && replayTtlSeconds <= REPLAY_TTL.max)) {
    throw badSellerOption("replayTtlSeconds", `give ${REPLAY_TTL.min} to ${REPLAY_TTL.max}`);
  }
  if (name.trim() === "") throw badSellerOption("name", "give the name people know the seller by");
  const { limits = {} } = given;
  const baseUrl = baseUrlOf(given.baseUrl ?? THIS_MACHINE, mode);
  return {
    releases,
    written: given.release,
    specialisms,
    handlers,
    store: given.store as SellerStore,
    sender: given.sender as Sender | undefined,
    signing: given.signing,
    baseUrl,
    name,
    description: given.description ?? name,
    auth: given.auth === openAuth ? undefined : given.auth,
    signedChanges: mode === "production" && given.auth === undefined && given.requestSigning !== undefined,
    requestSigning: checkedSigning(given.requestSigning),
    unchecked: new Set(given.unchecked),
    judgedByHandler: given.judgedByHandler ?? {},
    accountNamed: given.accountNamed ?? ((account) => account),
    capabilities: capabilitiesOf(given),
    replayTtlSeconds,
    limits: {
      bodyBytes: limits.bodyBytes ?? BODY_BYTES,
      depth: limits.depth ?? DEPTH,
      calls: limits.calls ?? CALLS,
      inFlightWaitMs: limits.inFlightWaitMs ?? IN_FLIGHT_WAIT_MS,
    },
    listing: given.listing,
    transports: checkedTransports(given.transports),
    a2aProfile: given.a2aProfile,
    cancelTask: given.cancelTask,
    resume: given.resume,
    origins: new Set([new URL(baseUrl).origin, ...(given.origins ?? [])]),
    trustProxy: given.trustProxy ?? false,
    mode,
    onInvalidAnswer: given.onInvalidAnswer,
    now: given.now ?? given.store?.now ?? Date.now,
    verifiedAt: given.now ?? Date.now,
    uuid: given.uuid ?? randomUUID,
    logger: given.logger,
    metrics: sellerMetrics(given.meter),
    tracer: given.tracer ?? trace.getTracer("adbind"),
    audit: given.audit,
    validatorOf: validatorOf(given, releases, handlers),
  };
}

/** In the order of the contract, each once. */
function checkedTransports(given: readonly TransportName[] = transportNames): readonly TransportName[] {
  const unknown = given.filter((name) => !transportNames.includes(name));
  if (given.length === 0 || unknown.length > 0)
    throw badSellerOption("transports", `give some of ${transportNames.join(", ")}`);
  return transportNames.filter((name) => given.includes(name));
}

/** Production is closed: what is open to everybody there was said to be. */
function refuseOpen(
  { auth, requestSigning, store, baseUrl }: SellerOptions,
  handlers: ReadonlyMap<string, unknown>,
  releases: readonly Release[],
): void {
  const refuse = (where: string, what: string, remedy: string): AdbindError => badSellerOption(where, remedy, what);
  if (baseUrl === undefined) throw refuse("baseUrl", "in production callers reach a seller somewhere", "give its URL");
  if (store === undefined)
    throw refuse("store", "in production what a seller keeps outlives it", "give a store: openStore of adbind/store");
  const changes = [...handlers.keys()].find((tool) => releases.some(({ tools }) => tools[tool]?.mutating === true));
  if (auth !== undefined || requestSigning !== undefined || changes === undefined) return;
  const what = `in production everybody could call ${changes} in anybody's name`;
  throw refuse("auth", what, "give auth (tokenAuth, jwtAuth), requestSigning, or openAuth where that is meant");
}

const capabilitiesOf = ({ capabilities = {} }: SellerOptions): SellerSettings<never>["capabilities"] =>
  typeof capabilities === "function" ? capabilities : () => capabilities;

/** A validator that lacks a tool would say so at the first call of it; a seller is told at once. */
function validatorOf(
  { validator }: SellerOptions,
  releases: readonly Release[],
  handlers: ReadonlyMap<string, unknown>,
): SellerSettings<never>["validatorOf"] {
  const made = validatorsFrom(validator, releases);
  if (made === undefined) throw badSellerOption("validator", "give a function that has a validator for each release");
  if (validator !== undefined && typeof validator !== "function") {
    for (const name of handlers.keys()) {
      try {
        validator.request(name, undefined);
      } catch (cause) {
        throw badSellerOption(
          "validator",
          `give one that has ${name} too`,
          `the validator cannot judge ${name}: ${cause}`,
        );
      }
    }
  }
  return made;
}

function releasesOf({ release, releases = [] }: SellerOptions): readonly Release[] {
  const all = [release, ...releases.filter((one) => one.version !== release.version)].sort((a, b) =>
    compareVersions(b.version, a.version),
  );
  if (new Set(all.map(({ version }) => version)).size < all.length)
    throw badSellerOption("releases", "give each version once");
  const lines = all.map(({ version }) => shortVersion(version));
  const twice = lines.find((line, at) => lines.indexOf(line) !== at);
  if (twice !== undefined)
    throw badSellerOption("releases", `callers pin ${twice}, and two releases go by that: give one of them`);
  // Wire names that say which release is asked for carry the word themselves.
  if (new Set(all.map(({ word }) => word)).size > 1) {
    throw badSellerOption("releases", "releases of different protocol words need a seller each");
  }
  return all;
}

function handlersOf<Tx>(
  { tools, release }: SellerOptions,
  releases: readonly Release[],
): ReadonlyMap<string, SellerHandler<AnyTool, Tx>> {
  const handlers = new Map<string, SellerHandler<AnyTool, Tx>>();
  for (const [name, handler] of Object.entries(tools)) {
    if (handler === undefined) continue;
    if (typeof handler !== "function") throw badSellerOption(`tools.${name}`, "give a function");
    if (!releases.some((one) => Object.hasOwn(one.tools, name))) {
      throw badSellerOption(`tools.${name}`, `release ${release.version} has no such tool`);
    }
    handlers.set(name, handler as SellerHandler<AnyTool, Tx>);
  }
  return handlers;
}

/** What is claimed, as the release spells it: ids may be given in snake or kebab case. */
function checkedSpecialisms(
  { specialisms = [], release }: SellerOptions,
  handlers: ReadonlyMap<string, unknown>,
  mode: SellerSettings<never>["mode"],
): string[] {
  const check = specialismChecks(release.specialisms);
  const { capabilities, task, tasks } = builtInNames(release);
  const have = [
    ...handlers.keys(),
    ...capabilities,
    ...task,
    ...tasks,
    ...(mode === "development" ? [] : [CONTROLLER]),
  ];
  return specialisms.map((id) => {
    const { specialism, ok, missingEntryPoints } = check(id, have);
    if (specialism === null) throw badSellerOption("specialisms", `release ${release.version} has no specialism ${id}`);
    const { role } = release.specialisms[specialism]!;
    if (role !== undefined) {
      throw badSellerOption(
        "specialisms",
        `${id} is for a ${role}, who calls its tools: claim what this agent answers`,
      );
    }
    if (!ok)
      throw badSellerOption(
        "tools",
        `${id} needs handlers for ${missingEntryPoints.join(", ")}: write them, or do not claim ${id}`,
      );
    return specialism;
  });
}

function checkedSigning(given: RequestSigningOptions | undefined): RequestSigningOptions | undefined {
  const fault = given === undefined ? undefined : capabilityFault(given);
  if (fault !== undefined) throw badSellerOption(`requestSigning.${fault.where}`, fault.detail);
  return given;
}

function baseUrlOf(text: string, mode: "development" | "production"): string {
  const baseUrl = text.replace(/\/+$/, "");
  const url = canonicalUrl(baseUrl, { unicodeHost: "refuse" });
  if (!url.ok || /[?#]/.test(baseUrl))
    throw badSellerOption("baseUrl", "give scheme and host, e.g. https://seller.example");
  if (mode === "production" && url.scheme !== "https")
    throw badSellerOption("baseUrl", "callers need https in production");
  return baseUrl;
}
