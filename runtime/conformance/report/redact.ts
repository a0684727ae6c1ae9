/** Takes credentials out of what a report shows. */
import { isJsonObject } from "../../contract/index.js";
import type { ConformanceReport, StepResult } from "../result.js";

const secretKey =
  /^(authorization|credentials?|token|api[_-]?key|apikey|x-api-key|password|secret|client_secret|(refresh|access|session|offering)_token|bearer|cookie|set-cookie)$/i;

const shownHeaders = new Set([
  "content-type",
  "content-length",
  "content-encoding",
  "www-authenticate",
  "location",
  "retry-after",
  "x-request-id",
  "x-correlation-id",
]);

const HIDDEN = "[redacted]";

function hide(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`);
  if (Array.isArray(value)) return value.map(hide);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      secretKey.test(key) && one !== null && typeof one !== "boolean" ? HIDDEN : hide(one),
    ]),
  );
}

/** A URL without the user, the password and the values of parameters that name a secret. */
function hideUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username !== "") url.username = "redacted";
  if (url.password !== "") url.password = "redacted";
  for (const name of [...url.searchParams.keys()]) if (secretKey.test(name)) url.searchParams.set(name, HIDDEN);
  return url.href;
}

const redactedStep = (step: StepResult): StepResult => ({
  ...step,
  ...(step.request && {
    request: { ...step.request, url: hideUrl(step.request.url), payload: hide(step.request.payload) },
  }),
  ...(step.response && {
    response: {
      ...step.response,
      headers: Object.fromEntries(Object.entries(step.response.headers).filter(([name]) => shownHeaders.has(name))),
      payload: hide(step.response.payload),
    },
  }),
  checks: step.checks.map((one) => ({
    ...one,
    ...("expected" in one && { expected: hide(one.expected) }),
    ...("actual" in one && { actual: hide(one.actual) }),
  })),
});

/** The report as it may be shown to others. */
export const redactedReport = (report: ConformanceReport): ConformanceReport => ({
  ...report,
  agent: { ...report.agent, url: hideUrl(report.agent.url) },
  storyboards: report.storyboards.map((one) => ({ ...one, steps: one.steps.map(redactedStep) })),
});
