/** Whether a registration can be honoured: what cannot is refused at once, never at the first event. */
import { type AnyTool, isJsonObject, type ProtocolError } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { NetFault, publicReason } from "../net/codes.js";
import type { NetPolicy } from "../net/policy.js";
import { checkSecret, checkToken } from "../signing/legacy.js";
import { standardKey } from "../signing/standard-webhooks.js";
import { checkEndpointUrl } from "./endpoint-url.js";
import { isStorable } from "./ids.js";
import { type AnyConfig, hasSecrets } from "./registered-config.js";
import type { LegacyAuthentication, RefusalOptions, Refused } from "./types.js";

/** How a delivery is authenticated, as the job carries it. Null: signed. */
export type DeliveryAuth = { readonly scheme: AuthScheme; readonly credentials: string } | null;

/** What stands for a signature: what releases register, and what both sides agree on by no field of a release. */
type AuthScheme = "HMAC-SHA256" | "Bearer" | typeof STANDARD;

/** As receivers call it (`mode` of `receiver.expect`). */
const STANDARD = "standard-webhooks";

export interface RegistrationRules {
  readonly refuse: RefusalOptions;
  readonly policy: NetPolicy;
  /** Version of the release: from 4.0 on there is no legacy authentication. */
  readonly version: string;
  readonly warn: (message: string) => void;
  /** Tells an operator of a registration that is taken and comes to nothing. */
  readonly tell: (of: object, message: string) => void;
  /** Whether there is a key to keep secrets under. */
  readonly keepsSecrets: () => boolean;
}

export interface Candidate {
  readonly url: unknown;
  readonly operation_id?: unknown;
  readonly token?: unknown;
  readonly authentication?: LegacyAuthentication;
}

export const refused = (message: string, field: string, code = "INVALID_REQUEST"): Refused => {
  const error: ProtocolError = { code, message, field, recovery: "correctable" };
  return { ok: false, error };
};

/** Longest `operation_id`, in characters: part of index entries at the receiver. */
const MAX_OPERATION_ID = 255;
/** Shortest and longest token (docs/protocol/webhooks.md#registration). */
const TOKEN_CHARACTERS = [16, 4_096] as const;
/** A2A's own has no least length; it travels in a header. */
export const A2A_TOKEN_CHARACTERS = [1, 4_096] as const;
const REMOVED_IN_MAJOR = 4;

/** Refusal of a URL; undefined where deliveries may go there. Addresses are checked at each attempt. */
function urlFault(url: unknown, where: string, policy: NetPolicy): Refused | undefined {
  if (typeof url !== "string") return refused("url is required", `${where}.url`);
  try {
    checkEndpointUrl(url, policy);
    return undefined;
  } catch (error) {
    if (!(error instanceof NetFault)) throw error;
    return refused(publicReason(error.code), `${where}.url`);
  }
}

/** Of Standard Webhooks, where it was agreed on. */
function standardFault({ credentials }: LegacyAuthentication, field: string): Refused | undefined {
  try {
    standardKey(credentials, field);
    return undefined;
  } catch (error) {
    if (!(error instanceof AdbindError)) throw error;
    return refused(`${error.message}: ${error.remedy}`, `${field}.credentials`);
  }
}

function legacyFault(
  authentication: LegacyAuthentication,
  where: string,
  tool: AnyTool | undefined,
  { refuse, version, warn }: RegistrationRules,
): Refused | undefined {
  const { schemes, credentials } = authentication;
  const field = `${where}.authentication`;
  const [scheme] = Array.isArray(schemes) ? schemes : [];
  if (schemes?.length === 1 && scheme === STANDARD && refuse.standardWebhooks === false)
    return standardFault(authentication, field);
  if (schemes?.length !== 1 || (scheme !== "HMAC-SHA256" && scheme !== "Bearer")) {
    return refused("schemes must name exactly one of HMAC-SHA256 and Bearer", `${field}.schemes`);
  }
  if (Number.parseInt(version, 10) >= REMOVED_IN_MAJOR) {
    return refused(`release ${version} signs its webhooks: leave authentication out`, field);
  }
  const { bearer = "mutating", hmac = false } = refuse;
  const declined = scheme === "HMAC-SHA256" ? hmac : bearer === "mutating" ? (tool?.mutating ?? false) : bearer;
  if (declined) return refused(`${scheme} is not offered here: leave authentication out for signed webhooks`, field);
  try {
    const check = scheme === "Bearer" ? checkToken : checkSecret;
    check(credentials, field);
  } catch (error) {
    if (error instanceof AdbindError) return refused(error.message, `${field}.credentials`);
    throw error;
  }
  warn(`${scheme} webhooks are deprecated and end with release 4.0: ${where} was registered with them`);
  return undefined;
}

/**
 * Judges one config.
 * @param where its name in the request, for the refusal
 * @param tool the tool it was registered with, where it is a task's
 */
export function registrationFault(
  config: Candidate,
  where: string,
  tool: AnyTool | undefined,
  rules: RegistrationRules & { readonly tokenCharacters?: readonly [number, number] },
): Refused | undefined {
  const bad = urlFault(config.url, where, rules.policy);
  if (bad !== undefined) return bad;
  const { operation_id: operation, token, authentication } = config;
  // With NUL no receiver takes what is sent under it.
  if (operation !== undefined && !(isText(operation, 1, MAX_OPERATION_ID) && isStorable(operation))) {
    const form = `a text of 1 to ${MAX_OPERATION_ID} characters, without NUL`;
    return refused(`operation_id must be ${form}`, `${where}.operation_id`);
  }
  const { tokenCharacters = TOKEN_CHARACTERS } = rules;
  if (token !== undefined && !isText(token, ...tokenCharacters)) {
    return refused(`token must have ${tokenCharacters.join(" to ")} characters`, `${where}.token`);
  }
  if (authentication !== undefined && !isJsonObject(authentication)) {
    return refused("authentication must be an object", `${where}.authentication`);
  }
  const fault = authentication === undefined ? undefined : legacyFault(authentication, where, tool, rules);
  if (fault !== undefined || rules.keepsSecrets() || !hasSecrets(config as AnyConfig)) return fault;
  return refused(NO_KEY, `${where}.${secretMember(config)}`);
}

/** Told to a caller: it can leave the secret out, the operator can give the sender keys. */
const NO_KEY = "secrets cannot be kept here: register without token and authentication";

const secretMember = ({ authentication }: Candidate): string =>
  authentication !== undefined ? "authentication" : "token";

const isText = (value: unknown, min: number, max: number): boolean =>
  typeof value === "string" && value.length >= min && value.length <= max && value.isWellFormed();

export const authOf = (authentication: LegacyAuthentication | undefined): DeliveryAuth =>
  authentication === undefined
    ? null
    : { scheme: authentication.schemes[0] as AuthScheme, credentials: authentication.credentials };
