/** What the judge of signatures asks of an official SDK, and how one answers. */
import type { Jwk } from "../../../runtime/signing/index.js";

/** What is signed: a webhook, or a request under one of the two profiles. */
export type Signable = "webhook" | "request 3.1" | "request 3.2";

/** A request as SDKs take it. */
export interface PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type PeerSigned =
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly reason: string };

/** A target with which the peer does otherwise than the rules say. */
export interface Departure {
  readonly url: string;
  /** The rule, or what the peer wants instead. */
  readonly reason: string;
  /** Only where the peer verifies this; by default in everything, since it brings the target to another form. */
  readonly verifying?: Signable;
}

export interface SigningPeer {
  /** The SDK with its version. */
  readonly name: string;
  /** What it does not know, with why. */
  readonly lacks: Partial<Readonly<Record<Signable, string>>>;
  readonly departures: readonly Departure[];
  /** @param key with its private part */
  sign(what: Signable, request: PlainRequest, key: Jwk): Promise<PeerSigned>;
  /** @returns undefined where the signature holds, else what the peer says */
  verify(what: Signable, request: PlainRequest, published: Jwk): Promise<string | undefined>;
  close(): Promise<void>;
}
