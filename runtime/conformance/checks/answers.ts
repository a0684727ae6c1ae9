/** Checks of an answer as a whole: its schema, its error, its HTTP. */

import { isJsonObject } from "../../contract/index.js";
import { readStart } from "../agent/http.js";
import { errorCodeOf, isFailedAnswer } from "../agent/outcome.js";
import { isSame } from "../equality.js";
import { fieldAt, pointerOfPath } from "../paths.js";
import { type CheckRunner, failed, passed } from "./types.js";
import { comparableUrl } from "./urls.js";

export const responseSchema: CheckRunner = (_check, view) => {
  const schema = view.schemas.responseOf(view.answered.tool, view.step.response_schema_ref);
  if (schema === undefined)
    return { outcome: "not_graded", note: `the release has no schema of the answers of ${view.step.task}` };
  const verdict = view.schemas.judge(schema, view.payload);
  if (verdict.ok) return passed({ schema });
  const [first] = verdict.errors;
  const pointer = first?.pointer ?? "";
  const value = fieldAt(view.payload, pointer.split("/").slice(1).join("."));
  return { ...failed(pointer, { schema: first?.message }, value), schema, note: sentences(verdict.errors) };
};

/** Errors of a schema that a line names. */
const SHOWN_ERRORS = 6;

export const sentences = (errors: readonly { pointer: string; keyword: string; message: string }[]): string =>
  errors
    .slice(0, SHOWN_ERRORS)
    .map(({ pointer, message, keyword }) => `${pointer === "" ? "the answer" : pointer} ${message} [${keyword}]`)
    .join("; ") + (errors.length > SHOWN_ERRORS ? `; and ${errors.length - SHOWN_ERRORS} more` : "");

export const errorCodeCheck: CheckRunner = (check, view) => {
  const { answer } = view;
  if (answer === undefined) return { outcome: "not_graded", note: "the step has no answer" };
  const listed = check.allowed_values ?? (check.value === undefined ? undefined : [check.value]);
  const found = errorCodeOf(answer, view.answered);
  const expected = listed === undefined ? "an error with a code" : listed.length === 1 ? listed[0] : { one_of: listed };
  if (found === undefined) {
    const note = isFailedAnswer(answer, view.answered) ? "the failure names no code" : "the call succeeded";
    return failed("", expected, undefined, answer.error === undefined ? note : `${note}: ${answer.error.message}`);
  }
  const allowed = listed === undefined ? [found.code] : (view.substitute(listed).value as unknown[]);
  return allowed.some((one) => isSame(one, found.code)) ? passed() : failed(found.pointer, expected, found.code);
};

const statusOf = (view: Parameters<CheckRunner>[1]): number | undefined => view.answer?.status;

export const httpStatus: CheckRunner = (check, view) =>
  statusOf(view) === check.value
    ? passed()
    : failed("", { http_status: check.value }, statusOf(view) ?? noAnswer(view));

export const httpStatusIn: CheckRunner = (check, view) =>
  (check.allowed_values ?? []).includes(statusOf(view))
    ? passed()
    : failed("", { http_status: { one_of: check.allowed_values } }, statusOf(view) ?? noAnswer(view));

const noAnswer = (view: Parameters<CheckRunner>[1]): string => `no answer: ${view.answer?.error?.message ?? "none"}`;

export const on401RequireHeader: CheckRunner = (check, view) => {
  if (statusOf(view) !== 401) return passed({ note: "the status is not 401" });
  const name = String(check.value).toLowerCase();
  const value = view.answer?.headers[name];
  return value ? passed() : failed("", `a header ${name}`, value);
};

export const resourceEqualsAgentUrl: CheckRunner = (_check, view) => {
  const resource = isJsonObject(view.payload) ? view.payload.resource : undefined;
  const expected = comparableUrl(view.agentUrl);
  if (typeof resource === "string" && comparableUrl(resource) === expected) return passed();
  return failed("/resource", view.agentUrl, resource);
};

/** RFC 9728 and 8414: the graph of metadata leads from the resource to endpoints that are its issuer's own. */
export const oauthMetadataGraph: CheckRunner = async (_check, view) => {
  const metadata = isJsonObject(view.payload) ? view.payload : {};
  const { resource, authorization_servers: servers } = metadata;
  if (typeof resource !== "string" || comparableUrl(resource) !== comparableUrl(view.agentUrl))
    return failed("/resource", view.agentUrl, resource);
  if (!Array.isArray(servers) || servers.length === 0)
    return failed("/authorization_servers", "at least one issuer", servers);
  for (const [index, issuer] of servers.entries()) {
    const pointer = `/authorization_servers/${index}`;
    if (typeof issuer !== "string" || !URL.canParse(issuer)) return failed(pointer, "a URL", issuer);
    const { origin, pathname } = new URL(issuer);
    const at = `${origin}/.well-known/oauth-authorization-server${pathname === "/" ? "" : pathname.replace(/\/$/, "")}`;
    try {
      const response = await view.fetch(at, { redirect: "manual", signal: AbortSignal.timeout(10_000) });
      const served: unknown = response.status === 200 ? JSON.parse(await readStart(response)) : undefined;
      if (!isJsonObject(served)) return failed(pointer, `metadata at ${at}`, `HTTP ${response.status}`);
      if (served.issuer !== issuer) return failed(pointer, { issuer }, { issuer: served.issuer });
      for (const name of ["token_endpoint", "authorization_endpoint", "jwks_uri"]) {
        const value = served[name];
        if (value === undefined && name !== "token_endpoint") continue;
        if (typeof value !== "string" || !URL.canParse(value)) return failed(pointer, `a URL as ${name}`, value);
      }
    } catch (error) {
      return failed(pointer, `metadata at ${at}`, error instanceof Error ? error.message : String(error));
    }
  }
  return passed();
};

/** Equality over the answers of a step that was sent several times at once. */
const parallelOnly = "only a step that is sent several times at once has answers to compare";

export const crossResponseFieldEqual: CheckRunner = (check, view) => {
  if (view.answers.length < 2) return { outcome: "not_graded", note: parallelOnly };
  const values = view.answers.map((answer) => fieldAt(answer.payload, check.path ?? ""));
  const same = values.every((value) => value !== undefined && isSame(value, values[0]));
  return same ? passed() : failed(pointerOfPath(check.path ?? ""), "one value in all answers", values);
};

export const crossResponseCountDistinct: CheckRunner = (check, view) => {
  if (view.answers.length < 2) return { outcome: "not_graded", note: parallelOnly };
  const values = view.answers.map((answer) => JSON.stringify(fieldAt(answer.payload, check.path ?? "")));
  const count = new Set(values.filter((value) => value !== undefined)).size;
  const allowed = check.allowed_values ?? [check.value];
  return allowed.includes(count)
    ? passed()
    : failed(pointerOfPath(check.path ?? ""), { distinct_values: allowed }, { distinct_values: count, values });
};
