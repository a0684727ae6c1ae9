/** Which release is negotiated: the newest both sides have (docs/protocol/transports.md#version-negotiation). */
import {
  type AnyTool,
  type Failure,
  type JsonObject,
  type Release,
  shortVersion,
  type WireNames,
} from "../contract/index.js";
import { list, member } from "../extract/json-object.js";
import { peerProfile } from "../facts/index.js";
import { stubTool } from "../facts/stub-tool.js";
import type { RequestCapability } from "../signing/index.js";
import type { ExchangeResult } from "./exchange.js";
import { failedHere, firstError } from "./exchange.js";
import { localError } from "./fault.js";
import { majorOf, type PinBy, pinOf } from "./pin.js";
import type { BuyerSettings } from "./settings.js";
import type { NegotiatedRelease } from "./types.js";
import type { Wire } from "./wire.js";

/** How long what an agent said of itself is taken for true, in milliseconds: an hour. */
const KEEP_MS = 3_600_000;

export interface PinnedRelease extends NegotiatedRelease {
  /** How the agent is told which release a request is in. */
  readonly pinBy: PinBy;
}

export type PinnedResult =
  | { readonly ok: true; readonly pinned: PinnedRelease }
  | { readonly ok: false; readonly failure: ExchangeResult };

/** Versions and majors that an agent names, in its capabilities or in the details of VERSION_UNSUPPORTED. */
interface Offer {
  readonly versions: readonly string[];
  readonly majors: readonly number[];
}

/** Who is not known to speak a pre-release is not spoken to in one, while there is a stable one. */
const newestStable = (releases: readonly Release[]): Release | undefined =>
  releases.find(({ version }) => !version.includes("-")) ?? releases[0];

const offerOf = (versions: unknown, majors: unknown): Offer => ({
  versions: list(versions).filter((one): one is string => typeof one === "string"),
  majors: list(majors).filter((one): one is number => typeof one === "number"),
});

/** The newest of ours an offer has; undefined where there is none. */
function choose(
  releases: readonly Release[],
  { versions, majors }: Offer,
): Pick<PinnedRelease, "release" | "pinBy"> | undefined {
  const offered = versions.map(shortVersion);
  const exact = releases.find(({ version }) => offered.includes(shortVersion(version)));
  if (exact !== undefined) return { release: exact, pinBy: "release" };
  // Agents that name versions have said all there is. Those that name majors only are of before there was more to name.
  const those = versions.length > 0 ? [] : releases.filter((one) => majors.includes(majorOf(one)));
  const release = those.find(({ facts }) => !facts.envelope.versionEcho.value) ?? newestStable(those);
  return release && { release, pinBy: "major" };
}

type Ask = (
  tool: AnyTool,
  release: Release,
  pin: JsonObject | undefined,
  signal: AbortSignal | undefined,
) => Promise<ExchangeResult>;

export interface Negotiation {
  get(signal: AbortSignal | undefined): Promise<PinnedResult>;
  /** What is agreed now, without asking. */
  known(): PinnedRelease | undefined;
  /** After VERSION_UNSUPPORTED: whether another release may be tried. */
  revise(payload: unknown): boolean;
  /** What was agreed is asked for again before the next call. */
  expire(): void;
}

export function createNegotiation({ settings, wire }: { settings: BuyerSettings; wire: Wire }, ask: Ask): Negotiation {
  const { releases, names, word } = settings;
  let current: { pinned: PinnedRelease; until: number } | undefined;
  let asking: Promise<PinnedResult> | undefined;
  async function learn(signal: AbortSignal | undefined): Promise<PinnedResult> {
    const capabilities = await capabilitiesOf(settings, ask, signal);
    if (!capabilities.ok) {
      // What was agreed an hour ago is better than nothing while the agent cannot be asked.
      const stale = capabilities.failure.recovery === "transient" ? current : undefined;
      return stale === undefined ? capabilities : { ok: true, pinned: stale.pinned };
    }
    const { declared } = capabilities;
    const own = member(declared, word);
    const offer = offerOf(member(own, "supported_versions"), member(own, "major_versions"));
    const silent = offer.versions.length === 0 && offer.majors.length === 0;
    const chosen = silent ? ({ release: newestStable(releases)!, pinBy: "nothing" } as const) : choose(releases, offer);
    if (chosen === undefined) return { ok: false, failure: noCommon(settings, offer) };
    wire.profile = peerProfile(releases, declared);
    wire.signature = member(declared, "request_signing") as RequestCapability | undefined;
    const idempotent = member(member(own, "idempotency"), "supported") === true;
    const pinned = { ...chosen, capabilities: await inItsTerms(declared, chosen.release, signal), idempotent };
    current = { pinned, until: settings.now() + KEEP_MS };
    return { ok: true, pinned };
  }
  /** Who asks without a pin is told nothing that is new in a pre-release: what it is to be called in is asked for by its name. */
  async function inItsTerms(declared: JsonObject | null, release: Release, signal: AbortSignal | undefined) {
    const echo = member(declared, names.version);
    const told = shortVersion(release.version);
    if (typeof echo !== "string" || echo === told || !told.includes("-")) return declared;
    const again = await capabilitiesOf(settings, ask, signal, release);
    return again.ok ? again.declared : declared;
  }
  return {
    get(signal) {
      if (current !== undefined && current.until > settings.now()) {
        return Promise.resolve({ ok: true, pinned: current.pinned });
      }
      if (signal !== undefined) return learn(signal);
      asking ??= learn(undefined).finally(() => {
        asking = undefined;
      });
      return asking;
    },
    known: () => (current !== undefined && current.until > settings.now() ? current.pinned : undefined),
    revise(payload) {
      if (current === undefined) return false;
      const details = member(member(payload, names.error), "details");
      const offer = offerOf(member(details, "supported_versions"), member(details, "supported_majors"));
      const chosen = choose(releases, offer);
      if (chosen === undefined || chosen.release === current.pinned.release) return false;
      current = { ...current, pinned: { ...current.pinned, ...chosen } };
      return true;
    },
    expire() {
      current = undefined;
    },
  };
}

/**
 * Whether an agent that has refused a call's release has another to be called in. Who names none with its refusal is asked: what was
 * agreed is no longer true.
 * @param of `tried`: the call has gone over to another before
 */
export async function speaksAnother(
  negotiation: Negotiation,
  { answer, payload }: Pick<ExchangeResult, "answer" | "payload">,
  of: { readonly release: Release; readonly signal: AbortSignal | undefined; readonly tried: boolean },
): Promise<boolean> {
  if (of.tried || firstError({ answer })?.code !== "VERSION_UNSUPPORTED") return false;
  if (negotiation.revise(payload)) return true;
  // A call beside this one may have learned it already.
  if (negotiation.known()?.release === of.release) negotiation.expire();
  const now = await negotiation.get(of.signal);
  return now.ok && now.pinned.release !== of.release;
}

type Declared = { ok: true; declared: JsonObject | null } | { ok: false; failure: ExchangeResult };

const unknownTool = (outcome: ExchangeResult): boolean => {
  const [error] = (outcome.answer.data as Failure).errors;
  return error !== undefined && ["UNSUPPORTED_FEATURE", "UNNAMED_ERROR", "INVALID_REQUEST"].includes(error.code);
};

/** The agent's own declaration, under the name it has it by: releases differ. */
async function capabilitiesOf(
  { releases, names }: BuyerSettings,
  ask: Ask,
  signal: AbortSignal | undefined,
  pinned?: Release,
): Promise<Declared> {
  const newest = pinned ?? releases[0]!;
  const known = ["get_agent_capabilities", names.capabilitiesTool];
  // Its own name first: the other is an alias that not every agent has.
  const asked = known.sort((a, b) => Number(Object.hasOwn(newest.tools, b)) - Number(Object.hasOwn(newest.tools, a)));
  for (const name of asked) {
    const outcome = await ask(
      newest.tools[name] ?? stubTool(name),
      newest,
      pinned && pinOf(pinned, name, "release"),
      signal,
    );
    if (outcome.answer.status === "completed") return { ok: true, declared: outcome.payload };
    if (outcome.answer.status !== "failed" || !unknownTool(outcome)) return { ok: false, failure: outcome };
  }
  return { ok: true, declared: null };
}

function noCommon({ releases, names }: BuyerSettings, { versions, majors }: Offer): ExchangeResult {
  const theirs = versions.length > 0 ? versions : majors;
  const ours = releases.map(({ version }) => version).join(", ");
  return failedHere(
    localError("VERSION_UNSUPPORTED", `The agent speaks ${theirs.join(", ")}, and this buyer ${ours}`, "terminal", {
      field: names.version,
      details: { supported_versions: versions, supported_majors: majors },
    }),
  );
}

export const isCapabilitiesTool = (name: string, names: WireNames): boolean =>
  name === "get_agent_capabilities" || name === names.capabilitiesTool;
