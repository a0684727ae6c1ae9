/** What a seller says of itself, derived from what it was given. */
import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import { isJsonObject, type JsonObject, type Release } from "../contract/index.js";
import { type EndpointSigning, endpointSigning } from "../facts/index.js";
import type { Jwk } from "../signing/index.js";
import type { ServedRelease } from "./served-releases.js";
import { badSellerOption, builtInNames, type SellerSettings } from "./settings.js";

const snake = (protocol: string): string => protocol.replaceAll("-", "_");

/**
 * The declaration in one release's terms.
 * @throws AdbindError `seller_option_invalid` where it lacks what only the application can say
 */
export function deriveCapabilities<Tx>(
  settings: SellerSettings<Tx>,
  servedReleases: readonly ServedRelease<Tx>[],
  own: ServedRelease<Tx>,
): JsonObject {
  const { release, names } = own;
  const declared = revised(
    release.word,
    overlay(derived(settings, servedReleases, own), settings.capabilities(release)),
  );
  const name = builtInNames(release).capabilities.find((one) => Object.hasOwn(release.tools, one));
  if (name === undefined) return declared;
  const judge = (one: JsonObject) => own.validator.arm(name, "completed", { ...one, status: "completed" });
  const judged = judge(declared);
  if (judged.ok) return declared;
  const [first] = judged.errors;
  // Early patches of 3.0 close the block of a seller's identity to what they do not know: verifiers of theirs ask for none.
  const { identity: _, ...unnamed } = declared;
  if (first?.pointer === "/identity/brand_json_url" && judge(unnamed).ok) return unnamed;
  throw badSellerOption(
    `capabilities${first?.pointer ?? ""}`,
    `${first?.message ?? ""}: say it with the option capabilities (release ${release.version}, ${names.capabilitiesTool})`,
    "the capabilities are not what the release allows",
  );
}

function derived<Tx>(
  settings: SellerSettings<Tx>,
  servedReleases: readonly ServedRelease<Tx>[],
  { release, names }: ServedRelease<Tx>,
): JsonObject {
  const { specialisms, sender, signing, requestSigning, replayTtlSeconds } = settings;
  const claimed = specialisms.filter((id) => Object.hasOwn(release.specialisms, id));
  const windows = Object.entries(sender?.channels.declaredWindows ?? {});
  return {
    [release.word]: {
      major_versions: [...new Set(servedReleases.map(({ major }) => major))].sort((a, b) => a - b),
      supported_versions: servedReleases.map(({ version }) => version),
      idempotency: { supported: true, replay_ttl_seconds: replayTtlSeconds },
    },
    supported_protocols: protocolsOf(settings, release.specialisms, claimed),
    specialisms: claimed.map((id) => id.replaceAll("_", "-")),
    request_signing: requestSigningOf(requestSigning, endpointSigning(settings.releases)),
    webhook_signing:
      sender === undefined || signing === undefined
        ? { supported: false }
        : {
            ...{ supported: true, profile: names.webhookTag, algorithms: [algorithmOf(signing.key as Jwk)] },
            ...(release.facts.signing.retryHorizon.value && { delivery_retry_horizon_seconds: RETRY_HORIZON_S }),
          },
    ...(windows.length > 0 && {
      webhooks: {
        coalescence_windows: windows.map(([type, seconds]) => ({ event_type: type, max_seconds: Math.ceil(seconds) })),
      },
    }),
    ...identityOf(settings, release),
  };
}

/** Who is told of changes compares revisions: one that is not given is another whenever anything else of them is. */
function revised(word: string, declared: JsonObject): JsonObject {
  const own = declared[word];
  if (!isJsonObject(own) || !isJsonObject(own.capability_changes)) return declared;
  const revision = hash("sha256", canonicalize(declared)!, "base64url");
  const changes = { capabilities_version: revision, ...own.capability_changes };
  return { ...declared, [word]: { ...own, capability_changes: changes } };
}

const algorithmOf = ({ kty }: Jwk): string => (kty === "EC" ? "ecdsa-p256-sha256" : "ed25519");

/** The sender gives a delivery up a day after its first attempt. */
const RETRY_HORIZON_S = 86_400;

/** Where verifiers find the seller's keys. Only https can be believed: over plain http there is nothing to publish. */
function identityOf<Tx>({ baseUrl, signing, sender }: SellerSettings<Tx>, { facts }: Release): JsonObject {
  if (signing === undefined || !hasIdentity(baseUrl)) return {};
  const origins = facts.discovery.keyOrigins.value !== "nobody" && sender !== undefined;
  return {
    identity: {
      brand_json_url: `${baseUrl}/.well-known/brand.json`,
      ...(origins && { key_origins: { webhook_signing: new URL(baseUrl).origin } }),
    },
  };
}

/** Can others believe who stands behind this URL? */
export const hasIdentity = (baseUrl: string): boolean => /^https:/i.test(baseUrl);

function requestSigningOf(options: SellerSettings<never>["requestSigning"], { profile }: EndpointSigning): JsonObject {
  if (options === undefined) return { supported: false };
  const { keys: _keys, replay: _replay, revocation: _revocation, strict: _strict, ...capability } = options;
  const declared = { supported: true, covers_content_digest: "either", ...capability };
  return profile === "3.2" ? { ...declared, covers_content_digest: "required" } : declared;
}

/** Home protocols of what is claimed; without a claim, those of the tools that are the home of any specialism. */
function protocolsOf<Tx>(
  settings: SellerSettings<Tx>,
  table: ServedRelease<Tx>["release"]["specialisms"],
  claimed: readonly string[],
): string[] {
  const homes = new Set(Object.values(table).map(({ protocol }) => protocol));
  const own = claimed.map((id) => table[id]!.protocol);
  const { tools } = settings.releases[0]!;
  const served = [...settings.handlers.keys()].map((name) => tools[name]?.protocol ?? "");
  const chosen = own.length > 0 ? own : served.filter((protocol) => homes.has(protocol));
  return [...new Set(chosen.map(snake))].sort();
}

/** Objects are laid over each other member by member; anything else is replaced. */
function overlay(base: JsonObject, more: JsonObject): JsonObject {
  const result: JsonObject = { ...base };
  for (const [key, value] of Object.entries(more)) {
    const before = result[key];
    result[key] = isJsonObject(before) && isJsonObject(value) ? overlay(before, value) : value;
  }
  return result;
}

/** The declaration for a caller who asks for some protocols only: the sections of others are left out. */
export function filterCapabilities(declared: JsonObject, asked: unknown, all: readonly string[]): JsonObject {
  if (!Array.isArray(asked)) return declared;
  return Object.fromEntries(Object.entries(declared).filter(([key]) => !all.includes(key) || asked.includes(key)));
}
