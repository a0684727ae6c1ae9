/** What the agent has sent to others, as its test controller tells: `upstream_traffic`. */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { endpointPattern } from "../../url.js";
import type { StoryboardCheck } from "../document.js";
import { isSame } from "../equality.js";
import { valuesAt } from "../paths.js";
import { type CheckRunner, failed, notApplicable, passed } from "./types.js";

/** `METHOD URL` of a recorded call. */
const endpointOf = (call: JsonObject): string =>
  typeof call.endpoint === "string" ? call.endpoint : `${call.method ?? ""} ${call.url ?? ""}`;

function selected(calls: readonly JsonObject[], check: StoryboardCheck): JsonObject[] {
  const glob = typeof check.endpoint_pattern === "string" ? endpointPattern(check.endpoint_pattern) : undefined;
  const purposes = Array.isArray(check.purpose_filter) ? check.purpose_filter : undefined;
  return calls.filter(
    (call) =>
      (glob === undefined || glob.test(endpointOf(call)) || glob.test(`${call.method ?? ""} ${call.path ?? ""}`)) &&
      (purposes === undefined || purposes.includes(call.purpose)),
  );
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Whether a call carried a value: in what it sent, or by the controller's word on its digest. */
function carries(call: JsonObject, value: string): boolean {
  const proofs = Array.isArray(call.identifier_match_proofs) ? call.identifier_match_proofs.filter(isJsonObject) : [];
  const digest = sha256(value);
  const proven = proofs.some(({ identifier_value_sha256: of, found }) => of === digest && found === true);
  return proven || JSON.stringify([call.payload, call.body, call.url, call.path]).includes(value);
}

function payloadMeets(call: JsonObject, rule: unknown): boolean {
  if (!isJsonObject(rule)) return true;
  const body = call.payload ?? call.body;
  let root: unknown = body;
  if (typeof body === "string") {
    try {
      root = JSON.parse(body);
    } catch {
      return false;
    }
  }
  const found = valuesAt(root, String(rule.path ?? ""));
  const { match = "present", value, allowed_values: listed } = rule;
  if (match === "present") return found.some((one) => one.value !== null);
  const wanted = Array.isArray(listed) ? listed : Array.isArray(value) && match === "contains_any" ? value : [value];
  return found.some((one) => wanted.some((want) => isSame(one.value, want)));
}

const callsOf = (result: JsonObject): JsonObject[] => {
  const calls = result.recorded_calls ?? result.calls ?? result.upstream_calls;
  return Array.isArray(calls) ? calls.filter(isJsonObject) : [];
};

export const upstreamTraffic: CheckRunner = async (check, view) => {
  if (view.upstream === undefined)
    return notApplicable("the agent's test controller has no scenario query_upstream_traffic");
  const asked = await view.upstream(typeof check.since === "string" ? check.since : undefined);
  if (!asked.ok) return failed("", "the record of calls upstream", asked.why);
  const calls = selected(callsOf(asked.result), check);
  const least = typeof check.min_count === "number" ? check.min_count : 1;
  const what = { calls: least === 0 ? "none" : `at least ${least}`, to: check.endpoint_pattern ?? "anywhere" };
  if (least === 0) return calls.length === 0 ? passed() : failed("", what, calls.map(endpointOf));
  if (calls.length < least) return failed("", what, callsOf(asked.result).map(endpointOf));
  const isDigest = (call: JsonObject): boolean => call.attestation_mode === "digest";
  if ((check.attestation_mode_required === "raw" || Array.isArray(check.payload_must_contain)) && calls.every(isDigest))
    return notApplicable("the controller gives digests in place of payloads");
  const rules = Array.isArray(check.payload_must_contain) ? check.payload_must_contain : [];
  for (const rule of rules)
    if (!calls.some((call) => payloadMeets(call, view.substitute(rule).value)))
      return failed(
        "",
        { payload: rule },
        calls.map((call) => call.payload ?? call.body),
      );
  const paths = Array.isArray(check.identifier_paths) ? check.identifier_paths : [];
  for (const path of paths)
    for (const { value } of valuesAt(view.sent, String(path)))
      if (!calls.some((call) => carries(call, String(value))))
        return failed("", { carries: value, from: path }, calls.map(endpointOf));
  return passed();
};
