/** A publisher's pin: `authorized_agents[].signing_keys[]` of its authorisation file (docs/protocol/signing.md#pins). */

import type { MaybePromise } from "../../contract/index.js";
import { wireNames } from "../../contract/index.js";
import { isJsonObject } from "../../contract/json-object.js";
import { momentMs } from "../../moment.js";
import { wellKnownRedirects } from "../../net/index.js";
import { canonicalAgentUrl } from "../../url.js";
import { declaredResolution, verificationKey } from "../keys.js";
import type { Jwk, KeyResolution, KeySource, VerificationKey } from "../types.js";
import type { DocumentState, Load } from "./document.js";
import { failure, fetchJson, type JsonRecord, ttlOf } from "./fetch-json.js";
import { unresolved } from "./jwks.js";
import { chain } from "./maybe.js";
import { checkedDomain, checkedTtl, checkedUrl, type Discovery, type DiscoveryOptions, discovery } from "./options.js";

/** 10 MB, docs/protocol/signing.md#pins: authorisation files of large networks. */
export const MAX_ADAGENTS_BYTES = 10 * 1024 * 1024;
/** One hour, docs/protocol/signing.md#pins: how long a removed key may go on being accepted. */
const MAX_PIN_TTL_S = 3600;

/** A publisher's pin, laid over keys that were found elsewhere. */
export interface PublisherPinOptions extends DiscoveryOptions {
  /** Where the agent's keys come from: `brandKeys(...)` as a rule. Identity stays its own. */
  readonly keys: KeySource;
  readonly agentUrl: string;
  /** The publisher's domain, where `/.well-known/adagents.json` is. */
  readonly publisher: string;
  /** Where the file is when it is not at the well-known place. */
  readonly url?: string;
  /**
   * When the publisher has no such file (404, 410): `refuse`, the default, answers `unavailable`, so that losing the file
   * does not lift the pin; `unpinned` goes on without one, for publishers that are not known to have a file.
   */
  readonly ifAbsent?: "refuse" | "unpinned";
  /** Longest time the file is used, in seconds: 60 to 3600, default 3600. */
  readonly ttlSeconds?: number;
  /** The protocol's word; default `proto`. */
  readonly word?: string;
  /**
   * What a pin holds a key by, as the release says (`release.facts.discovery.pin`). `kid`, the default: the kid must be pinned,
   * and where the pin carries a key, the published one must be that key. `thumbprint`: the published key must be one of those
   * that pins carry, whatever their kids; a pin without a key matches nothing.
   */
  readonly rule?: "kid" | "thumbprint";
  /**
   * A pinned key that the agent's key set lacks: `refuse`, the default, since a pin only narrows; `accept` takes it for the
   * agent's. Under `thumbprint` it is always refused.
   */
  readonly unpublished?: "refuse" | "accept";
}

/** One pinned key. */
interface Pin {
  readonly members: Jwk;
  /** Unix seconds. */
  readonly revokedAt: number | undefined;
  /** What became of it together with the key set's entry, kept so that an imported key is imported once. */
  merged?: { readonly from: VerificationKey | undefined; readonly key: VerificationKey };
}

interface PinSet {
  /** Null where the file gives one kid two different keys. */
  readonly byKid: ReadonlyMap<string, Pin | null>;
  /** Every key that is pinned, whatever it is called: a thumbprint knows no kid. */
  readonly keys: readonly Pin[];
}
/** Pins by canonical agent URL; only of agents that have any. */
type PinDocument = ReadonlyMap<string, PinSet>;

const materialMembers = ["kty", "crv", "x", "y", "n", "e"] as const;

const hasMaterial = (jwk: Jwk): boolean => typeof jwk.x === "string" || typeof jwk.n === "string";

/** A date that cannot be read counts as past: the publisher meant to revoke something. */
const revokedAtOf = (value: unknown): number | undefined => {
  if (value === undefined || value === null) return undefined;
  const at = typeof value === "string" ? momentMs(value) / 1000 : Number.NaN;
  return Number.isNaN(at) ? 0 : at;
};

const sameKey = (left: Pin, right: Pin): boolean => sameMaterial(left.members, right.members);

const earlier = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined ? right : right === undefined ? left : Math.min(left, right);

interface OpenPins {
  readonly byKid: Map<string, Pin | null>;
  readonly keys: Pin[];
}

function addPins({ byKid: pins, keys: all }: OpenPins, keys: readonly unknown[]): void {
  for (const key of keys) {
    if (!isJsonObject(key)) continue;
    const pin: Pin = { members: key as Jwk, revokedAt: revokedAtOf(key.revoked_at) };
    all.push(pin);
    if (typeof key.kid !== "string") continue;
    const known = pins.get(key.kid);
    if (known === undefined) pins.set(key.kid, pin);
    else if (known === null || !sameKey(known, pin)) pins.set(key.kid, null);
    else pins.set(key.kid, { ...known, revokedAt: earlier(known.revokedAt, pin.revokedAt) });
  }
}

/** An agent may be listed several times, for several properties: its pins are those of all its entries together. */
function readPins(agents: readonly unknown[]): PinDocument {
  const byAgent = new Map<string, OpenPins>();
  for (const agent of agents) {
    if (!isJsonObject(agent) || typeof agent.url !== "string" || agent.signing_keys === undefined) continue;
    const url = canonicalAgentUrl(agent.url) ?? agent.url;
    const pins = byAgent.get(url) ?? { byKid: new Map<string, Pin | null>(), keys: [] };
    byAgent.set(url, pins);
    // Present and unreadable pins everything out: the publisher wanted a pin.
    if (Array.isArray(agent.signing_keys)) addPins(pins, agent.signing_keys);
  }
  return byAgent;
}

const isPointer = (document: JsonRecord): document is JsonRecord & { authoritative_location: string } =>
  typeof document.authoritative_location === "string";

async function loadPins({ fetch }: Discovery, url: string, ttl: number): Promise<Load<PinDocument>> {
  const first = await fetchJson(fetch, url, { maxBytes: MAX_ADAGENTS_BYTES, redirects: wellKnownRedirects });
  if (!first.ok) return first;
  let document = first.value;
  let ttlSeconds = ttlOf(first.headers, ttl);
  if (isPointer(document)) {
    // No redirects here: the pointer itself names the authoritative place.
    const second = await fetchJson(fetch, document.authoritative_location, { maxBytes: MAX_ADAGENTS_BYTES });
    if (!second.ok) return second;
    document = second.value;
    if (isPointer(document)) return failure("refused", "the authorisation file is more than one pointer away");
    ttlSeconds = Math.min(ttlSeconds, ttlOf(second.headers, ttl));
  }
  if (!Array.isArray(document.authorized_agents)) return failure("unreachable", "no authorized_agents in the file");
  return { ok: true, value: readPins(document.authorized_agents), ttlSeconds };
}

const algOf = ({ alg, kty, crv }: Jwk): string | undefined =>
  alg ?? (kty === "OKP" && crv === "Ed25519" ? "EdDSA" : kty === "EC" && crv === "P-256" ? "ES256" : undefined);

/** A key only the publisher knows of: a pin is for webhooks alone, so that is its purpose unless it says another. */
function pinnedJwk(pin: Pin, useMember: string): Jwk {
  const alg = algOf(pin.members);
  return {
    use: "sig",
    key_ops: ["verify"],
    [useMember]: "request-signing",
    ...pin.members,
    ...(alg !== undefined && { alg }),
  };
}

/** Members of two keys that make them, which is what their RFC 7638 thumbprints are over. */
const sameMaterial = (left: Jwk, right: Jwk): boolean =>
  materialMembers.every((member) => left[member] === right[member]);

const pinnedOut = (detail: string): KeyResolution => ({ ok: false, code: "key_unknown", detail });

/** A key that is looked for; `refuted`: the one found before, which proved nothing. `again`: the file may be fetched once more. */
interface Wanted {
  readonly keyid: string;
  readonly refuted: Jwk | undefined;
  readonly again: boolean;
}

interface Applying {
  readonly agentUrl: string;
  readonly useMember: string;
  readonly unpublished: "refuse" | "accept";
}

/** The published key as the pin leaves it; undefined where it is another than the pin carries. */
function applyPin(
  pin: Pin,
  inner: KeyResolution,
  { agentUrl, useMember, unpublished }: Applying,
): KeyResolution | undefined {
  if (!inner.ok) {
    const alone = unpublished === "accept" && inner.code === "key_unknown" && hasMaterial(pin.members);
    if (!alone) return inner;
    pin.merged ??= { from: undefined, key: verificationKey(pinnedJwk(pin, useMember), pin.revokedAt) };
    return { ok: true, key: pin.merged.key, sender: agentUrl };
  }
  if (hasMaterial(pin.members) && !sameMaterial(pin.members, inner.key.jwk)) return undefined;
  if (pin.revokedAt === undefined) return inner;
  return { ok: true, key: narrowed(pin, inner.key), sender: inner.sender };
}

/** The published key, revoked no later than the pin says; kept, so that an imported key is imported once. */
function narrowed(pin: Pin, from: VerificationKey): VerificationKey {
  if (pin.merged?.from !== from)
    pin.merged = { from, key: verificationKey(from.jwk, earlier(from.revokedAt, pin.revokedAt)) };
  return pin.merged.key;
}

/** The published key where some pin carries it, revoked as soon as one of them says. */
function applyThumbprints({ keys }: PinSet, inner: KeyResolution): KeyResolution | undefined {
  if (!inner.ok) return inner;
  const carrying = keys.filter(({ members }) => hasMaterial(members) && sameMaterial(members, inner.key.jwk));
  const [first] = carrying;
  if (first === undefined) return undefined;
  const soonest = carrying.reduce((one, other) =>
    earlier(one.revokedAt, other.revokedAt) === one.revokedAt ? one : other,
  );
  if (soonest.revokedAt === undefined) return inner;
  return { ok: true, key: narrowed(soonest, inner.key), sender: inner.sender };
}

/**
 * Narrows an agent's keys to those a publisher pinned. No pin for the agent in the file: its keys are used as they are. A
 * kid that is not pinned, or pinned to another key, refreshes the file once, then is `key_unknown` whatever the agent's key set says.
 * @throws AdbindError `discovery_option_invalid`
 */
export function publisherPin(options: PublisherPinOptions): KeySource {
  const shared = discovery(options);
  const { ifAbsent = "refuse", rule = "kid", unpublished = "refuse" } = options;
  const agentUrl = checkedUrl(options.agentUrl, "agentUrl");
  const pinName = canonicalAgentUrl(agentUrl) ?? agentUrl;
  const useMember = wireNames(options.word ?? "proto").keyUse;
  const ttl = checkedTtl(options.ttlSeconds ?? MAX_PIN_TTL_S, MAX_PIN_TTL_S);
  const domain = checkedDomain(options.publisher, "publisher");
  const url =
    options.url === undefined ? `https://${domain}/.well-known/adagents.json` : checkedUrl(options.url, "url");
  const document = shared.cache.document("pin", url, () => ({
    load: () => loadPins(shared, url, ttl),
    now: shared.now,
  }));

  const published = (keyid: string, refuted?: Jwk): MaybePromise<KeyResolution> =>
    chain(options.keys.resolve(keyid, refuted), declaredResolution);

  const narrow = (state: DocumentState<PinDocument>, wanted: Wanted): MaybePromise<KeyResolution> => {
    const { keyid, refuted, again } = wanted;
    if (!state.ok) {
      if (state.kind === "absent" && ifAbsent === "unpinned") return published(keyid, refuted);
      return unresolved(state, "publisher pin");
    }
    const pins = state.value.get(pinName);
    if (pins === undefined) return published(keyid, refuted);
    const lookAgain = (fault: string): MaybePromise<KeyResolution> =>
      again && !state.fresh
        ? chain(document.refresh(), (next) => narrow(next, { ...wanted, again: false }))
        : pinnedOut(fault);
    if (rule === "thumbprint") {
      return chain(
        published(keyid, refuted),
        (inner) => applyThumbprints(pins, inner) ?? lookAgain("no pin of the publisher carries this key"),
      );
    }
    const pin = pins.byKid.get(keyid);
    if (pin === null) return lookAgain("the pin gives this kid two keys");
    if (pin === undefined) return lookAgain("the publisher's pin leaves this kid out");
    const apply = (inner: KeyResolution) => applyPin(pin, inner, { agentUrl, useMember, unpublished });
    return chain(published(keyid, refuted), (inner) => {
      const applied = apply(inner);
      if (applied !== undefined || !inner.ok) return applied ?? inner;
      // Either side may be from before the key was replaced under its name: each looks again, as seldom as for a new name.
      return chain(
        published(keyid, inner.key.jwk),
        (next) => apply(next) ?? lookAgain("the key set has another key under the pinned kid"),
      );
    });
  };

  return {
    resolve: (keyid, refuted) => chain(document.get(), (state) => narrow(state, { keyid, refuted, again: true })),
  };
}
