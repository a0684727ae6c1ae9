/** Whether a task failed, and with which code. */
import { type AnyTool, answerFields, isJsonObject, type JsonObject, wireNames } from "../../contract/index.js";
import type { AgentAnswer } from "./types.js";

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const codeIn = (value: unknown): string | undefined => (isJsonObject(value) ? text(value.code) : undefined);

export interface AnsweredTool {
  readonly word: string;
  readonly tool: AnyTool | undefined;
}

/** Whether the payload says anything beside errors and the envelope. */
const hasData = (payload: JsonObject, { word, tool }: AnsweredTool): boolean =>
  Object.keys(payload).some(
    (key) => !answerFields.has(key) && !key.startsWith(`${word}_`) && !(tool?.failureFields ?? []).includes(key),
  );

const failedErrors = (payload: JsonObject, answered: AnsweredTool): boolean =>
  Array.isArray(payload.errors) &&
  payload.errors.length > 0 &&
  // A task that was taken on is no failure, whatever it says beside.
  !(payload.status === "submitted" && text(payload.task_id) !== undefined) &&
  !hasData(payload, answered);

/** Whether a payload tells a failure. @param tool undefined for one that the release does not have */
export function isFailedPayload(payload: JsonObject, answered: AnsweredTool): boolean {
  const { status } = payload;
  const isTask = answered.tool === undefined || (answered.tool.statuses as readonly string[]).includes(String(status));
  // A rejection that carries data of its own and no errors is an answer that the tool's schema knows.
  if (isTask && status === "failed") return true;
  if (isTask && status === "rejected" && (!hasData(payload, answered) || failedErrors(payload, answered))) return true;
  if (codeIn(payload[wireNames(answered.word).error]) !== undefined) return true;
  return text(payload.error_code) !== undefined || failedErrors(payload, answered);
}

/** Whether the call came back as a failure of the task or of the transport. */
export const isFailedAnswer = (answer: AgentAnswer, answered: AnsweredTool): boolean =>
  answer.failed || answer.error !== undefined || answer.payload === null || isFailedPayload(answer.payload, answered);

export interface FoundCode {
  readonly code: string;
  readonly pointer: string;
}

/** The code of a failure, from the first place that has one. */
export function errorCodeOf(answer: AgentAnswer, answered: AnsweredTool): FoundCode | undefined {
  const wrapped = wireNames(answered.word).error;
  const payload = answer.payload ?? {};
  const errors = Array.isArray(payload.errors) ? payload.errors : [];
  const data = isJsonObject(answer.error?.data) ? answer.error.data : {};
  const places: [pointer: string, code: string | undefined][] = [
    ["/errors/0/code", isFailedAnswer(answer, answered) ? codeIn(errors[0]) : undefined],
    [`/${wrapped}/code`, codeIn(payload[wrapped])],
    [`/error/data/${wrapped}/code`, codeIn(data[wrapped])],
    ["/error/data/code", text(data.code)],
    ["/error_code", text(payload.error_code)],
    ["/code", text(payload.code)],
    ["/error/code", codeIn(payload.error)],
    ["/error", payload.success === false ? text(payload.error) : undefined],
    ["", /^(?:.*?: )?([A-Z][A-Z_]{3,}):/.exec(answer.error?.message ?? answer.text ?? "")?.[1]],
  ];
  for (const [pointer, code] of places) if (code !== undefined) return { code, pointer };
  return undefined;
}
