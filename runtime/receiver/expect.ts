/** Registrations: what a receiver is told before anything arrives. */
import type { Release } from "../contract/index.js";
import { isStorableId, MAX_ID_BYTES } from "../contract/storable-id.js";
import { AdbindError } from "../errors.js";
import { eventCatalogue } from "../facts/index.js";
import { checkSecret, standardKey } from "../signing/index.js";
import { checkToken } from "../signing/legacy.js";
import type { HmacSecrets } from "../signing/types.js";
import type { EventKind, RegisteredMode, Registration } from "../store/types.js";
import { tokenDigest } from "./ingest.js";
import { isRoute } from "./routes.js";
import type { ReceiverConfig } from "./settings.js";
import type { Expectation, SenderConfig } from "./types.js";

/** A task's registration outlives every retry and every late question about it: 90 days. */
const TASK_EXPIRY_SECONDS = 90 * 86_400;
/** Release that no longer has HMAC and Bearer (docs/protocol/eras.md#what-ends). */
const LEGACY_REMOVED_IN_MAJOR = 4;
/**
 * Shortest `push_notification_config.token`, in characters (docs/protocol/webhooks.md#registration); A2A's own config has
 * no least length.
 */
const TOKEN_CHARS = 16;
/** A route and its sender, together: part of index entries with an operation's id. */
const MAX_PLACE_BYTES = 1_600;

const invalid = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("registration_invalid", what, { where, remedy });

const kinds: readonly EventKind[] = [
  "task",
  "report",
  "impairment",
  "list_change",
  "artifact",
  "rights",
  "account",
  "agent",
];
const credentials = {
  signature: "keys",
  "HMAC-SHA256": "hmac",
  Bearer: "bearer",
  "standard-webhooks": "standardWebhooks",
} as const;

function checkMode<Tx>(config: ReceiverConfig<Tx>, sender: SenderConfig, mode: RegisteredMode, version: string): void {
  const credential = sender[credentials[mode]];
  if (credential === undefined) {
    throw invalid(`the sender is not configured for ${mode}`, "mode", `give it ${credentials[mode]} in senders`);
  }
  if (mode === "signature") return;
  const { current, previous } = credential as HmacSecrets;
  const check = { "standard-webhooks": standardKey, "HMAC-SHA256": checkSecret, Bearer: checkToken }[mode];
  check(current, `senders: ${credentials[mode]}.current`);
  if (previous !== undefined) check(previous, `senders: ${credentials[mode]}.previous`);
  if (mode === "standard-webhooks") return;
  if (Number.parseInt(version, 10) >= LEGACY_REMOVED_IN_MAJOR) {
    throw new AdbindError("legacy_auth_removed", `release ${version} has no ${mode} webhooks`, {
      where: "mode",
      remedy: "register without the authentication block: deliveries are then signed",
    });
  }
  config.log.warn({ mode }, "deprecated webhook authentication registered; it ends with release 4.0");
}

/**
 * Checks an expectation and makes the registration to store.
 * @throws AdbindError `registration_invalid`, `legacy_auth_removed`, `secret_weak`
 */
function toRegistration<Tx>(config: ReceiverConfig<Tx>, expectation: Expectation): Registration {
  const { route, sender, kind, mode = "signature", operationId, token, format, expiresInSeconds } = expectation;
  if (!isRoute(route)) throw invalid("the route is no request target", "route", "start with / and use printable ASCII");
  if (Buffer.byteLength(route) + Buffer.byteLength(sender) > MAX_PLACE_BYTES) {
    throw invalid("the route is too long", "route", `use at most ${MAX_PLACE_BYTES} bytes, with its sender's`);
  }
  const choices: readonly (readonly [name: string, value: string, known: readonly string[]])[] = [
    ["kind", kind, kinds],
    ["mode", mode, Object.keys(credentials)],
    ["format", format ?? "mcp", ["mcp", "a2a"]],
  ];
  for (const [name, value, known] of choices) {
    if (!known.includes(value))
      throw invalid(`there is no ${name} ${String(value)}`, name, `give one of ${known.join(", ")}`);
  }
  const held = config.senderOf(sender);
  if (held === undefined) throw invalid("the sender is not configured", "sender", "add it to senders first");
  const version = expectation.release ?? held.release ?? config.defaultRelease.release.version;
  if (!config.releases.has(version)) {
    throw invalid(`the receiver has no release ${version}`, "release", "bind it in releases");
  }
  checkMode(config, held, mode, version);
  checkEvents(config.releases.get(version)!.release, expectation);
  if (operationId !== undefined && !isStorableId(operationId)) {
    throw invalid("the operation id cannot be stored", "operationId", `use 1 to ${MAX_ID_BYTES} bytes of text`);
  }
  if (token !== undefined && format !== "a2a" && [...token].length < TOKEN_CHARS) {
    throw invalid("the token is too short", "token", `give at least ${TOKEN_CHARS} characters: sellers refuse others`);
  }
  const lifetime = expiresInSeconds ?? (kind === "task" && operationId !== undefined ? TASK_EXPIRY_SECONDS : undefined);
  return {
    route,
    operationId: operationId ?? null,
    sender,
    kind,
    mode,
    format: format ?? null,
    taskType: expectation.taskType ?? null,
    tokenDigest: token === undefined ? null : tokenDigest(token),
    release: expectation.release ?? null,
    events: expectation.events ?? null,
    expires: lifetime === undefined ? null : config.now() + lifetime * 1000,
  };
}

/** What is registered can come: another word is a slip. */
function checkEvents(release: Release, { kind, events }: Expectation): void {
  if (events === undefined) return;
  if (kind !== "account" && kind !== "agent") {
    throw invalid(`a registration of kind ${kind} names no events`, "events", "leave it out");
  }
  const known = eventCatalogue(release).kindsOf(kind);
  const [unknown] = events.filter((event) => !known.includes(event));
  if (unknown === undefined && events.length > 0) return;
  throw invalid(
    unknown === undefined ? "no event is named" : `release ${release.version} has no ${unknown} for ${kind} configs`,
    "events",
    `give some of ${known.join(", ")}, or leave it out for all`,
  );
}

/**
 * Stores an expectation.
 * @returns how many events had come before it and are handled now
 * @throws AdbindError as `toRegistration`; `registration_invalid` when the route belongs to another sender, kind or mode
 */
export async function storeExpectation<Tx>(config: ReceiverConfig<Tx>, expectation: Expectation): Promise<number> {
  const registration = toRegistration(config, expectation);
  const result = await config.store.registrations.add(registration, config.now());
  if ("released" in result) return result.released;
  const { sender, kind, mode, format } = result.conflict;
  throw invalid(
    "the route is registered otherwise",
    registration.route,
    `it is ${kind} of ${sender} by ${mode}, ${format ?? "any shape"}; use another route`,
  );
}
