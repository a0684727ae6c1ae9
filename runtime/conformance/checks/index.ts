/** Every kind of check there is, by its published name. */
import { isJsonObject } from "../../contract/index.js";
import { errorCodeOf } from "../agent/outcome.js";
import * as answers from "./answers.js";
import * as fields from "./fields.js";
import { canonicalFormatSatisfaction } from "./formats.js";
import { refsResolve } from "./references.js";
import { upstreamTraffic } from "./traffic.js";
import { type CheckRunner, failed, notApplicable, passed } from "./types.js";

const anyOf: CheckRunner = (check, view) => {
  const wanted = check.allowed_values ?? [];
  const flag = wanted.find((one) => view.flags.has(String(one)));
  return flag === undefined
    ? failed("", { one_of: wanted }, [...view.flags])
    : passed({ note: `contributed: ${flag}` });
};

const statusCode: CheckRunner = (check, view) => answers.httpStatus(check, view);

/** A2A's task of a submitted answer has the protocol's task in an artifact of data. */
const a2aSubmittedArtifact: CheckRunner = (_check, { answer }) => {
  if (answer?.request.transport !== "a2a") return notApplicable("only A2A has artifacts");
  return answer.origin === "data_part" ? passed() : failed("/artifacts", "a part of data", answer.body);
};

const a2aContextContinuity: CheckRunner = (_check, { answer }) =>
  answer?.request.transport === "a2a"
    ? { outcome: "not_graded", note: "one context per call" }
    : notApplicable("A2A only");

/** The answer to a repeated request, beside the refusal that the first one met with. */
const replayNotCached: CheckRunner = (_check, { answer, answered }) => {
  const { trip_response: trip, replay_response: replay } = answer?.payload ?? {};
  if (answer === undefined || trip === undefined)
    return { outcome: "not_graded", note: "no request was refused for its rate" };
  const found = errorCodeOf({ ...answer, payload: isJsonObject(replay) ? replay : null }, answered);
  if (found?.code !== "RATE_LIMITED") return passed();
  return failed(
    `/replay_response${found.pointer}`,
    "an answer made anew",
    found.code,
    "rate_limit_response_cached_as_replay",
  );
};

const kinds: Readonly<Record<string, CheckRunner>> = {
  field_present: fields.fieldPresent,
  field_absent: fields.fieldAbsent,
  field_value: fields.fieldHasValue,
  field_value_or_absent: fields.fieldValueOrAbsent,
  field_contains: fields.fieldContains,
  field_pattern: fields.fieldPattern,
  field_less_than: fields.fieldLessThan,
  field_greater_than: fields.fieldGreaterThan,
  field_equals_context: fields.fieldEqualsContext,
  field_in_context_array: fields.fieldInContextArray,
  all_fields_in_context_array: fields.allFieldsInContextArray,
  array_length: fields.arrayLength,
  envelope_field_present: fields.fieldPresent,
  envelope_field_absent: fields.fieldAbsent,
  envelope_field_pattern: fields.fieldPattern,
  response_schema: answers.responseSchema,
  error_code: answers.errorCodeCheck,
  http_status: answers.httpStatus,
  http_status_in: answers.httpStatusIn,
  status_code: statusCode,
  on_401_require_header: answers.on401RequireHeader,
  resource_equals_agent_url: answers.resourceEqualsAgentUrl,
  oauth_metadata_graph: answers.oauthMetadataGraph,
  cross_response_field_equal: answers.crossResponseFieldEqual,
  cross_response_count_distinct: answers.crossResponseCountDistinct,
  replay_not_cached_rate_limit: replayNotCached,
  any_of: anyOf,
  refs_resolve: refsResolve,
  canonical_format_satisfaction: canonicalFormatSatisfaction,
  upstream_traffic: upstreamTraffic,
  a2a_submitted_artifact: a2aSubmittedArtifact,
  a2a_context_continuity: a2aContextContinuity,
};

/** Undefined for a kind that this runner does not know. */
export const checkRunner = (kind: string): CheckRunner | undefined =>
  Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
