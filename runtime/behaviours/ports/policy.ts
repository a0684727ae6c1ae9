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
  /** No machine decides alone under it: every action of a plan that it is a policy of waits for a person. */
  readonly requires_human_review?: boolean;
}

/** A piece of content, as on the wire. */
export interface ContentArtifact {
  readonly property_rid: string;
  readonly artifact_id: string;
  readonly assets: readonly JsonObject[];
  readonly [more: string]: unknown;
}

/** Content to be judged against a policy. */
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

/** What a policy about spending asks, and of which actions. */
export type SpendingRule = {
  /** Words of which the action must mention one: channels, or what the policy calls by a short name; none: it always applies. */
  readonly mentions: readonly string[];
  /** Budgets above this amount, in the plan's currency. */
  readonly over?: number;
} & (
  | { readonly kind: "reporting"; readonly every: "hourly" | "daily" | "weekly" | "monthly" }
  | { readonly kind: "review"; readonly of: string }
  | { readonly kind: "seller_share"; readonly percent: number }
  | { readonly kind: "drift"; readonly percent: number }
  | { readonly kind: "unread" }
);

/** An action that would spend money, as its check sent it. */
export interface ActionQuestion {
  readonly policy: WrittenPolicy;
  /** The arguments of the tool that is about to be called, or what a seller says it will deliver. */
  readonly action: JsonObject;
}

/** What can be measured of a creative; declared. */
export type CreativeFeature = { readonly feature_id: string; readonly description?: string } & (
  | { readonly type: "binary" }
  | { readonly type: "quantitative"; readonly range: { readonly min: number; readonly max: number } }
  | { readonly type: "categorical"; readonly categories: readonly string[] }
);

/** What a policy's judge measures of a creative. */
export interface CreativeMeasurement {
  readonly feature_id: string;
  readonly value: boolean | number | string;
  readonly unit?: string;
  /** 0 to 1. */
  readonly confidence?: number;
}

/** Who measures creatives. */
export interface CreativeFeatures {
  readonly features: readonly CreativeFeature[];
  /**
   * Measures those of the features that are asked for. It is asked again under the same key where the answer was lost, and
   * counts that once.
   */
  measure(
    question: { readonly manifest: JsonObject; readonly featureIds: readonly string[]; readonly principal: string },
    call: { readonly idempotencyKey: string },
  ): Promise<readonly CreativeMeasurement[]>;
}

/** Judges content and spending against policies. Yours to answer. */
export interface PolicyPort extends CallsUpstream {
  /** Creatives are not measured where this is left out. */
  readonly creatives?: CreativeFeatures;
  /** Judges one piece of content by one policy; asked once for each. `unevaluated` is for what nobody can tell. */
  content(question: ContentQuestion): Promise<ContentFinding>;
  /** What a plan's policy asks; `unread` where no rule can be read from it. */
  spending(policy: WrittenPolicy): Promise<SpendingRule>;
  /** Judges an action by a policy that is `unread`; undefined, or no such function, leaves it to a person. */
  action?(question: ActionQuestion): Promise<"met" | "unmet" | undefined>;
  /** A policy of the registry by its id; what is not found is not evaluated, and said so. */
  registered?(policyId: string): Promise<WrittenPolicy | undefined>;
}
