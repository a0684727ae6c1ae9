import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { type Artifact, judgeContent } from "./evaluate.js";
import { judgingStandards } from "./standards.js";

/** `calibrate_content`: what the standards make of one piece of content, and why. */
export function calibrateContent(call: Call, request: Request<"calibrate_content">): JsonObject {
  const { verdict, features } = judgeContent(judgingStandards(call, request), request.artifact as unknown as Artifact);
  const against = features.filter(({ status }) => status === "failed" || status === "warning");
  return {
    verdict,
    confidence: features.some(({ status }) => status === "unevaluated") ? 0.6 : 0.9,
    explanation:
      against.length === 0
        ? "Nothing in the content is against the standards."
        : against.map(({ policy_id = "", explanation = "" }) => `${policy_id}: ${explanation}`.trim()).join(" "),
    features,
  };
}

/** `validate_content_delivery`: what the standards make of what was delivered, record by record. */
export function validateContentDelivery(call: Call, request: Request<"validate_content_delivery">): JsonObject {
  const standards = judgingStandards(call, request);
  const results = request.records.map(({ record_id, artifact, channel }) => ({
    record_id,
    ...judgeContent(standards, artifact as unknown as Artifact, channel, request.feature_ids),
  }));
  const failed = results.filter(({ verdict }) => verdict === "fail").length;
  return {
    summary: { total_records: results.length, passed_records: results.length - failed, failed_records: failed },
    results: request.include_passed === false ? results.filter(({ verdict }) => verdict === "fail") : results,
  };
}
