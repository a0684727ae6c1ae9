/** `verify_brand_claim`: what the brand says to a claim, signed, and bound to the question and to who asked it. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourToolCall } from "../frame/call.js";
import { jwsOf } from "../frame/jws.js";
import type { BrandClaims, ClaimAnswer, ClaimQuestion } from "../ports/brands.js";

/** How long an answer may be relied on, in seconds: what a brand owns can change hands. */
const FRESH_S = 300;

function claimsOf({ ports }: BehaviourToolCall): BrandClaims {
  const { claims } = ports.brands;
  if (claims !== undefined) return claims;
  throw new ToolError("UNSUPPORTED_FEATURE", "no brand answers claims here");
}

/** What the wire wants beside the status. */
const detailsOf = (answer: ClaimAnswer): JsonObject => ({
  ...answer.details,
  ...(answer.status === "pending_review" && { expected_resolution_window_days: answer.days }),
  ...(answer.status === "licensed_in" && { licensor_domain: answer.licensorDomain }),
});

function shownAnswer({ claim_type }: ClaimQuestion, answer: ClaimAnswer, field: string): JsonObject {
  const details = detailsOf(answer);
  return {
    claim_type,
    [field]: answer.status,
    ...(Object.keys(details).length > 0 && { details }),
    ...(answer.note !== undefined && { context_note: answer.note.slice(0, 500) }),
  };
}

/** Binds an answer to its question: shown to somebody else, or for another question, it proves nothing. */
function signed(call: BehaviourToolCall, request: JsonObject, body: JsonObject): JsonObject {
  const { responses, tool: task, agentUrl: agent_url, now, release } = call;
  if (responses === undefined) throw new ToolError("UNSUPPORTED_FEATURE", "answers are not signed here");
  const { domain: brand_domain } = claimsOf(call);
  const typ = `${release.word}-response-payload+jws`;
  const iat = Math.floor(now.getTime() / 1_000);
  const question = canonicalize({ task, brand_domain, agent_url, caller_identity: call.principal, request })!;
  // What is echoed is a part of the answer.
  const response = { ...body, ...(isJsonObject(request.context) && { context: request.context }) };
  const payload: JsonObject = {
    ...{ typ, task, brand_domain, agent_url },
    request_hash: `sha256:${createHash("sha256").update(question).digest("base64url")}`,
    ...{ iat, exp: iat + FRESH_S, response },
  };
  return { ...body, signed_response: { ...jwsOf(responses, typ, canonicalize(payload)!), payload } };
}

export const verifyClaim: ToolBehaviour = async (request: ClaimQuestion & JsonObject, call) => {
  const answer = await claimsOf(call).answer(request, { principal: call.principal });
  const field = call.shape.has("verification_status") ? "verification_status" : "status";
  return call.answer(signed(call, request, shownAnswer(request, answer, field)));
};

/** One answer for each claim, in their order. */
export const verifyClaims: ToolBehaviour = async (request: { claims: readonly ClaimQuestion[] } & JsonObject, call) => {
  const claims = claimsOf(call);
  const field = call.shape.has("results", "*", "verification_status") ? "verification_status" : "status";
  const results: JsonObject[] = [];
  for (const one of request.claims)
    results.push(shownAnswer(one, await claims.answer(one, { principal: call.principal }), field));
  return call.answer(signed(call, request, { results }));
};
