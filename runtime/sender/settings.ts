/** A sender's options, judged: what cannot work is refused before anything is sent. */
import { AdbindError } from "../errors.js";
import { safely } from "../listener.js";
import { checkedPolicy } from "../net/policy.js";
import type { AttemptOptions } from "./attempt.js";
import { CALLBACK_MS } from "./deadline.js";
import { type EndpointProof, endpointProof } from "./endpoint-proof.js";
import type { RegistrationRules } from "./registration.js";
import { createKeyring, type Keyring } from "./sealing.js";
import { developmentKeys, secretKeysOfEnvironment } from "./secret-keys.js";
import type { SenderOptions } from "./types.js";

/** The database, as `Database` names it. */
export interface SenderPlace {
  readonly where: string;
  readonly shared: boolean;
  /** Unix milliseconds by a clock that all who share it go by; the sender's own where there is none. */
  readonly now?: () => number;
}

/** How long a signer may take, in milliseconds. */
const SIGNER_TIMEOUT_MS = { default: 5_000, max: 30_000 } as const;

const badOption = (where: string, remedy: string): AdbindError =>
  new AdbindError("sender_option_invalid", "an option of a sender cannot be used", { where, remedy });

/** @throws AdbindError `sender_option_invalid` */
export const attemptOptionsOf = (
  options: SenderOptions,
  { shared }: Pick<SenderPlace, "shared">,
  fetch: AttemptOptions["fetch"],
): AttemptOptions => ({
  fetch,
  // A server's processes need what a second thread would; a database of this thread alone has nobody else to do anything.
  signsAside: !shared,
  signerFor: signerOf(options),
  signerTimeoutMs: signerTimeoutOf(options),
  word: options.word ?? options.release.word,
  version: options.release.version,
  now: options.now ?? Date.now,
  signedAt: options.now ?? Date.now,
  random: options.random ?? Math.random,
  onFault: (error) => options.logger?.error({ err: error }, "an attempt could not be made"),
});

/** @returns what proves endpoints; without a name of one's own it proves none */
export const proofOf = (attempts: AttemptOptions, agentUrl: string | undefined): EndpointProof =>
  agentUrl === undefined
    ? async () => "the sender has no agentUrl to name in a challenge"
    : endpointProof(attempts, agentUrl);

/** @throws AdbindError `sender_option_invalid` */
function signerOf({ signer, signerFor }: SenderOptions): AttemptOptions["signerFor"] {
  if ((signer === undefined) === (signerFor === undefined)) throw badOption("signer", "give signer or signerFor");
  return signerFor ?? (typeof signer === "function" ? signer : () => signer!);
}

/** @throws AdbindError `sender_option_invalid` */
function signerTimeoutOf({ signerTimeoutMs = SIGNER_TIMEOUT_MS.default }: SenderOptions): number {
  if (signerTimeoutMs >= 1 && signerTimeoutMs <= SIGNER_TIMEOUT_MS.max) return signerTimeoutMs;
  throw badOption("signerTimeoutMs", `give 1 to ${SIGNER_TIMEOUT_MS.max}`);
}

/** How long a function of the application may take. @throws AdbindError `sender_option_invalid` */
export function callbackTimeoutOf({ callbackTimeoutMs = CALLBACK_MS.default }: SenderOptions): number {
  if (callbackTimeoutMs >= 1 && callbackTimeoutMs <= CALLBACK_MS.max) return callbackTimeoutMs;
  throw badOption("callbackTimeoutMs", `give 1 to ${CALLBACK_MS.max}`);
}

/** Events of an endpoint that wait, at most. */
const MAX_WAITING = 1_000_000;

/** How many events of an endpoint may wait. @throws AdbindError `sender_option_invalid`: with 0 each would end unsent */
export function maxWaitingOf({ maxWaiting = MAX_WAITING }: SenderOptions): number {
  if (Number.isSafeInteger(maxWaiting) && maxWaiting >= 1) return maxWaiting;
  throw badOption("maxWaiting", "give an integer of at least 1");
}

/** Windows by event type, in milliseconds. @throws AdbindError `sender_option_invalid` */
export function windowsOf({ coalescence = {} }: SenderOptions): Readonly<Record<string, number>> {
  for (const [type, ms] of Object.entries(coalescence))
    if (typeof ms !== "number" || !(ms >= 0)) throw badOption(`coalescence.${type}`, "give milliseconds, at least 0");
  return coalescence;
}

export const rulesOf = (
  { refuse = {}, net = {}, release, logger, onDeprecated = warnOnce }: SenderOptions,
  keyring: Keyring,
): RegistrationRules => ({
  refuse,
  policy: checkedPolicy(net),
  version: release.version,
  keepsSecrets: () => keyring.seals,
  tell: (of, message) => logger?.warn(of, message),
  warn: (message) => {
    logger?.warn({}, message);
    safely(() => onDeprecated(message));
  },
});

/** @throws AdbindError `sender_option_invalid` */
export function sealsBodies({ sealBodies = false }: SenderOptions, { seals }: Keyring): boolean {
  if (!sealBodies || seals) return sealBodies;
  throw badOption("sealBodies", "give secrets, or set ADBIND_SECRET_KEYS_FILE: there is no key to seal bodies with");
}

/** @throws AdbindError `secret_keys_invalid`, `sender_option_invalid` */
export async function keyringOf(options: SenderOptions, place: SenderPlace): Promise<Keyring> {
  const { secrets, mode = "production", now = Date.now, logger } = options;
  const limitMs = callbackTimeoutOf(options);
  const given = secrets ?? secretKeysOfEnvironment(process.env);
  if (given !== undefined || mode === "production") return createKeyring(given, { limitMs });
  const told = (message: string): void => {
    if (logger === undefined) process.emitWarning(message, "AdbindDevelopment");
    else logger.warn({}, message);
  };
  return createKeyring(developmentKeys(place, now(), told), { limitMs });
}

const warned = new Set<string>();
const warnOnce = (message: string): void => {
  const scheme = message.split(" ")[0]!;
  if (warned.has(scheme)) return;
  warned.add(scheme);
  process.emitWarning(message, "DeprecationWarning");
};
