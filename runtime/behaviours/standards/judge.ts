/** Judges content by standards: each policy by whoever the port asks, and what the verdicts come to. */
import { AdbindError } from "../../errors.js";
import type { BehaviourCall } from "../frame/call.js";
import type { ContentArtifact, WrittenPolicy } from "../ports/policy.js";
import type { KeptStandards } from "./kept.js";

interface Feature {
  readonly feature_id: string;
  readonly status: "passed" | "failed" | "warning" | "unevaluated";
  readonly policy_id?: string;
  readonly explanation?: string;
  readonly confidence?: number;
}

export interface ContentVerdict {
  readonly verdict: "pass" | "fail";
  readonly features: readonly Feature[];
}

export interface Content {
  readonly artifact: ContentArtifact;
  /** Where it ran or is to run: policies for other channels are left out. */
  readonly channel?: string;
  /** Features that are wanted; all by default. */
  readonly featureIds?: readonly string[];
}

const isSame =
  ({ property_rid, artifact_id }: ContentArtifact) =>
  (example: { readonly property_rid?: unknown; readonly artifact_id?: unknown }): boolean =>
    example.property_rid === property_rid && example.artifact_id === artifact_id;

/** An example that was given decides by itself. */
function judgeExample(
  { calibration_exemplars: exemplars }: KeptStandards,
  artifact: ContentArtifact,
): Feature | undefined {
  const failed = exemplars?.fail?.some(isSame(artifact)) === true;
  if (!failed && !exemplars?.pass?.some(isSame(artifact))) return undefined;
  return {
    feature_id: "record:exemplar",
    status: failed ? "failed" : "passed",
    explanation: `The content is an example of what ${failed ? "fails" : "passes"}.`,
    confidence: 1,
  };
}

/** Standards say nothing of content in other languages. */
function coversLanguage({ scope: { languages_any: languages } }: KeptStandards, { assets }: ContentArtifact): boolean {
  const own = assets.flatMap(({ language }) => (typeof language === "string" ? [language.toLowerCase()] : []));
  const ranges = languages?.map((one) => one.toLowerCase());
  const covered = (tag: string): boolean => ranges?.some((one) => tag === one || tag.startsWith(`${one}-`)) ?? true;
  return own.length === 0 || own.some(covered);
}

/** The standards' own policies, and those of the registry as far as somebody has their text. */
async function policiesOf(
  call: BehaviourCall,
  { policies = [], registry_policy_ids: registered = [] }: KeptStandards,
): Promise<{ readonly known: readonly WrittenPolicy[]; readonly unknown: readonly string[] }> {
  const { policy } = call.ports;
  const sought = await Promise.all(
    registered.map((id) => call.once(`policy ${id}`, async () => policy.registered?.(id))),
  );
  return {
    known: [...policies, ...sought.flatMap((one) => one ?? [])],
    unknown: registered.filter((_, index) => sought[index] === undefined),
  };
}

async function judgePolicy(
  call: BehaviourCall,
  policy: WrittenPolicy,
  { standards, artifact }: { readonly standards: KeptStandards; readonly artifact: ContentArtifact },
): Promise<Feature> {
  const exemplars = standards.calibration_exemplars ?? {};
  const { status, explanation, confidence } = await call.ports.policy.content({ policy, artifact, exemplars });
  if (!["passed", "failed", "unevaluated"].includes(status))
    throw new AdbindError("port_answer_invalid", `content is ${String(status)} by policy ${policy.policy_id}`, {
      where: "content of the port policy",
      remedy: "answer { status }: passed, failed or unevaluated",
    });
  return {
    feature_id: policy.policy_categories?.[0] ?? policy.policy_id,
    policy_id: policy.policy_id,
    // What is only advised does not fail.
    status: status === "failed" && policy.enforcement !== "must" ? "warning" : status,
    ...(explanation !== undefined && { explanation }),
    ...(confidence !== undefined && { confidence }),
  };
}

const unjudged = (policy_id: string): Feature => ({
  feature_id: policy_id,
  policy_id,
  status: "unevaluated",
  explanation: "The text of this policy is not at hand.",
  confidence: 0,
});

export async function judgeContent(
  call: BehaviourCall,
  standards: KeptStandards,
  { artifact, channel, featureIds }: Content,
): Promise<ContentVerdict> {
  const example = judgeExample(standards, artifact);
  if (example !== undefined) return { verdict: example.status === "failed" ? "fail" : "pass", features: [example] };
  const { known, unknown } = await policiesOf(call, standards);
  const applying = known.filter(({ channels }) => channel === undefined || (channels?.includes(channel) ?? true));
  const judged = await Promise.all(applying.map((policy) => judgePolicy(call, policy, { standards, artifact })));
  const covered = coversLanguage(standards, artifact);
  const features = [...judged, ...unknown.map(unjudged)]
    .map((feature): Feature => (covered ? feature : { ...feature, status: "unevaluated", confidence: 0 }))
    .filter(({ feature_id }) => featureIds?.includes(feature_id) ?? true);
  return { verdict: features.some(({ status }) => status === "failed") ? "fail" : "pass", features };
}
