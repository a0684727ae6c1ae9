/** Judges content by standards. The same content and the same standards get the same verdict. */
import type { JsonObject } from "adbind/contract";
import { alike, type Check, readContentPolicy, words } from "./read.js";

export interface ContentPolicy {
  readonly policy_id: string;
  readonly policy: string;
  readonly enforcement: "must" | "should" | "may";
  readonly policy_categories?: readonly string[];
  readonly channels?: readonly string[];
}

export interface Artifact {
  readonly property_rid: string;
  readonly artifact_id: string;
  readonly assets: readonly JsonObject[];
  readonly [more: string]: unknown;
}

export interface Standards {
  readonly policies: readonly ContentPolicy[];
  readonly languages_any?: readonly string[];
  readonly exemplars?: { readonly pass?: readonly JsonObject[]; readonly fail?: readonly JsonObject[] };
}

type Status = "passed" | "failed" | "warning" | "unevaluated";

export interface Feature {
  readonly feature_id: string;
  readonly status: Status;
  readonly policy_id?: string;
  readonly explanation?: string;
  readonly confidence?: number;
}

export interface Verdict {
  readonly verdict: "pass" | "fail";
  readonly features: readonly Feature[];
}

const DEPTH = 8;

/** Everything an artifact says, its names and addresses included; not the credentials to fetch it. */
function textOf(value: unknown, depth = 0): string[] {
  if (depth > DEPTH) return [];
  if (typeof value === "string") return words(value);
  if (Array.isArray(value)) return value.flatMap((item) => textOf(item, depth + 1));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => (key === "access" ? [] : textOf(item, depth + 1)));
}

const images = ({ assets }: Artifact): readonly JsonObject[] => assets.filter(({ type }) => type === "image");

/** What the check comes to, and why; nothing said where it is met. */
function run(
  check: Check,
  artifact: Artifact,
  said: readonly string[],
): { readonly status: Status; readonly why?: string } {
  switch (check.kind) {
    case "prohibits": {
      const found = check.terms.find((term) => term.every((word) => said.some((own) => alike(word, own))));
      return found === undefined
        ? { status: "passed" }
        : { status: "failed", why: `The content shows or names: ${found.join(" ")}.` };
    }
    case "alt_text": {
      const without = images(artifact).filter(({ alt_text: text }) => typeof text !== "string" || text.trim() === "");
      return without.length === 0
        ? { status: "passed" }
        : { status: "failed", why: "An image has no alternative text." };
    }
    case "min_dpi": {
      const known = images(artifact).map(({ dpi }) => dpi);
      if (known.some((dpi) => typeof dpi === "number" && dpi < check.dpi)) {
        return { status: "failed", why: "An image is below the resolution asked for." };
      }
      return known.every((dpi) => typeof dpi === "number") ? { status: "passed" } : { status: "unevaluated" };
    }
    case "unread":
      return { status: "unevaluated", why: "The policy is for a person to judge." };
  }
}

const worst: readonly Status[] = ["failed", "unevaluated", "passed"];

function judgePolicy(policy: ContentPolicy, artifact: Artifact, said: readonly string[]): Feature {
  const results = readContentPolicy(policy.policy).map((check) => run(check, artifact, said));
  const status = worst.find((one) => results.some((result) => result.status === one)) ?? "unevaluated";
  const why = results.filter((result) => result.status === status).flatMap((result) => result.why ?? []);
  return {
    feature_id: policy.policy_categories?.[0] ?? policy.policy_id,
    policy_id: policy.policy_id,
    // What is only advised does not fail.
    status: status === "failed" && policy.enforcement !== "must" ? "warning" : status,
    ...(why.length > 0 && { explanation: why.join(" ") }),
    confidence: status === "unevaluated" ? 0 : 0.9,
  };
}

const sameArtifact = (artifact: Artifact) => (example: JsonObject) =>
  example.property_rid === artifact.property_rid && example.artifact_id === artifact.artifact_id;

/** An example that was given decides by itself. */
function judgeExample({ exemplars }: Standards, artifact: Artifact): Feature | undefined {
  const failed = exemplars?.fail?.some(sameArtifact(artifact));
  if (!failed && !exemplars?.pass?.some(sameArtifact(artifact))) return undefined;
  return {
    feature_id: "record:exemplar",
    status: failed ? "failed" : "passed",
    explanation: `The content is an example of what ${failed ? "fails" : "passes"}.`,
    confidence: 1,
  };
}

/** Standards say nothing of content in other languages. */
function coversLanguage({ languages_any: languages }: Standards, { assets }: Artifact): boolean {
  const own = assets.flatMap(({ language }) => (typeof language === "string" ? [language] : []));
  const covered = (tag: string): boolean => languages?.some((one) => tag === one || tag.startsWith(`${one}-`)) ?? true;
  return own.length === 0 || own.some(covered);
}

/**
 * @param channel where it ran or is to run; policies for other channels are left out
 * @param features the features wanted; all by default
 */
export function judgeContent(
  standards: Standards,
  artifact: Artifact,
  channel?: string,
  features?: readonly string[],
): Verdict {
  const example = judgeExample(standards, artifact);
  if (example !== undefined) return { verdict: example.status === "failed" ? "fail" : "pass", features: [example] };
  const said = textOf(artifact);
  const covered = coversLanguage(standards, artifact);
  const judged = standards.policies
    .filter(({ channels }) => channel === undefined || channels === undefined || channels.includes(channel))
    .map((policy) => judgePolicy(policy, artifact, said))
    .map((feature): Feature => (covered ? feature : { ...feature, status: "unevaluated", confidence: 0 }))
    .filter(({ feature_id }) => features === undefined || features.includes(feature_id));
  return { verdict: judged.some(({ status }) => status === "failed") ? "fail" : "pass", features: judged };
}
