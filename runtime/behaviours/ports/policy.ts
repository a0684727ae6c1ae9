/** Policies written in words: who judges by them, a reader of plain sentences, a model, or a person. */
import type { JsonObject } from "../../contract/index.js";
import type { CallsUpstream } from "./upstream.js";

/** A policy as a caller states it, or as the registry has it. */
export interface WrittenPolicy {
  readonly policy_id: string;
  readonly policy: string;
  readonly enforcement: "must" | "should" | "may";
  readonly policy_categories?: readonly string[];
  /** Channels it is for; all by default. */
  readonly channels?: readonly string[];
}

/** A piece of content, as on the wire. */
export interface ContentArtifact {
  readonly property_rid: string;
  readonly artifact_id: string;
  readonly assets: readonly JsonObject[];
  readonly [more: string]: unknown;
}

export interface ContentQuestion {
  readonly policy: WrittenPolicy;
  readonly artifact: ContentArtifact;
  /** What the caller has said passes and fails. */
  readonly exemplars: { readonly pass?: readonly JsonObject[]; readonly fail?: readonly JsonObject[] };
}

/** What a policy makes of content, whatever its enforcement. */
export interface ContentFinding {
  readonly status: "passed" | "failed" | "unevaluated";
  /** Says which way, without thresholds that a caller could work around. */
  readonly explanation?: string;
  /** 0 to 1. */
  readonly confidence?: number;
}

export interface PolicyPort extends CallsUpstream {
  /** Judges one piece of content by one policy; asked once for each. `unevaluated` is for what nobody can tell. */
  content(question: ContentQuestion): Promise<ContentFinding>;
  /** A policy of the registry by its id; what is not found is not evaluated, and said so. */
  registered?(policyId: string): Promise<WrittenPolicy | undefined>;
}
