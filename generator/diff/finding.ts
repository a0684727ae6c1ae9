/** What a comparison of two releases tells. */
import { createHash } from "node:crypto";
import type { Json } from "../model/shape.js";

/** Who upgraded and who did not, from the sender to the reader of a message. */
export const pairings = [
  "old-caller>new-seller",
  "new-caller>old-seller",
  "old-seller>new-caller",
  "new-seller>old-caller",
] as const;
export type Pairing = (typeof pairings)[number];

export const verdicts = ["broken", "undecided", "safe"] as const;
export type DiffVerdict = (typeof verdicts)[number];

/** `stable`: of a release that is none of a series still in the making, and not marked experimental. */
export type Stability = "stable" | "preview" | "experimental";

/** `webhook`: what a seller tells unasked. `error`: the error that every answer may carry, and the details of codes. */
export type Side = "request" | "answer" | `async:${string}` | "webhook" | "error" | "release";

/** A payload that one release accepts and the other refuses; both validators were asked. */
export interface PayloadWitness {
  readonly kind: "payload";
  readonly pairing: Pairing;
  readonly accepts: string;
  readonly refuses: string;
  /** Schemas that were asked; undefined where the release has none for it. */
  readonly schemas: { readonly accepting: string; readonly refusing: string | undefined };
  readonly payload: Json;
  /** What the refusing validator says. */
  readonly because: string;
}

/** What both releases' manifests say of the same thing, where no payload can show it. */
export interface ReadingWitness {
  readonly kind: "reading";
  readonly pairing: Pairing;
  readonly from: Json;
  readonly to: Json;
}

export type Witness = PayloadWitness | ReadingWitness;

export interface DiffFinding {
  /** Hash of rule, tool, side and place: the same for the same change however the files are laid out. */
  readonly id: string;
  readonly rule: string;
  /** Null for what is of the release, and of none of its tools. */
  readonly tool: string | null;
  readonly side: Side;
  /** Of webhooks the kinds of event, of details of errors the code. */
  readonly about?: string;
  /** Place in the value, e.g. `/packages/-/budget`; for the release, what it is about, e.g. `code/RATE_LIMITED`. */
  readonly at: string;
  /** Place in the files of the older release, and of the newer; empty where it has none. */
  readonly pointerA: string;
  readonly pointerB: string;
  /** What changed, in one sentence. */
  readonly message: string;
  /** Pairings for which a witness was confirmed. */
  readonly breaks: Pairing[];
  /** Pairings for which neither a break nor safety was proven. */
  readonly undecided: Pairing[];
  readonly verdict: DiffVerdict;
  readonly stability: Stability;
  /** It breaks only payloads that use a name which the sender's own release gives no meaning. */
  readonly undeclaredOnly?: true;
  readonly witness?: Witness;
  readonly witnesses?: Witness[];
  /** Why a verdict is not reached, or why it is safe. */
  readonly reason?: string;
  readonly fix: string;
  /** Where a project mentions it, `<file>:<line>`, a few; only where one was asked for. */
  readonly usedAt?: readonly string[];
}

/** @returns 16 hexadecimal digits */
export const findingId = (rule: string, tool: string | null, side: string, at: string): string =>
  createHash("sha256")
    .update(JSON.stringify([rule, tool, side, at]))
    .digest("hex")
    .slice(0, 16);

/** Which pairing a message of a side takes. */
export const pairingOf = (side: Side, forward: boolean): Pairing =>
  side === "request"
    ? forward
      ? "old-caller>new-seller"
      : "new-caller>old-seller"
    : forward
      ? "old-seller>new-caller"
      : "new-seller>old-caller";

export interface DiffSummary {
  readonly findings: number;
  readonly broken: number;
  readonly undecided: number;
  readonly safe: number;
  readonly accepted: number;
  /** Findings that break each pairing. */
  readonly pairings: Readonly<Record<Pairing, number>>;
}

export interface DiffReport {
  readonly from: { readonly word: string; readonly version: string; readonly digest: string };
  readonly to: { readonly word: string; readonly version: string; readonly digest: string };
  readonly summary: DiffSummary;
  readonly findings: readonly DiffFinding[];
}
