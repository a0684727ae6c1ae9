/** The call by which a task that asks something is answered. */
import type { Answer, AnyArms, AnyTool, JsonObject, Release, TransportName } from "../contract/index.js";
import { derivedId } from "./derived-id.js";
import { localError } from "./fault.js";
import type { BuyerSettings } from "./settings.js";
import type { LocalError } from "./types.js";

export interface AskedTask {
  /** The tool's. */
  readonly name: string;
  readonly tool: AnyTool | undefined;
  readonly release: Release;
  readonly transport: TransportName;
  /** What was asked for before. */
  readonly request: JsonObject;
  /** What the task says now. */
  readonly question: Answer<AnyArms>;
  readonly nativeTaskId: string | undefined;
  readonly input: JsonObject;
  /** The call whose question it is, by its key, and how many answers of it were taken before. */
  readonly of: { readonly key: string | undefined; readonly given: number };
}

type CarriedOn =
  | { readonly ok: true; readonly request: JsonObject }
  | { readonly ok: false; readonly error: LocalError };

/** The request as it was with the answer laid over it, or why none can be made. */
export async function carriedOn(asked: AskedTask): Promise<CarriedOn> {
  const { name, tool, release, transport, request, question, nativeTaskId, input, of } = asked;
  if (question.status !== "input-required") {
    const message = `${name} is ${question.status} and asks nothing`;
    return { ok: false, error: localError("INPUT_NOT_ASKED", message, "correctable") };
  }
  const { contextId } = question;
  // Over MCP the older releases thread the conversation through the arguments.
  const byArguments = transport === "mcp" && release.facts.envelope.contextId.value === "threaded";
  const threaded = byArguments && contextId !== undefined;
  const named = transport === "mcp" ? threaded : contextId !== undefined || nativeTaskId !== undefined;
  if (!named && tool?.mutating === true) {
    // Without a word of which task is meant, the answer would be a further order beside the one that waits.
    const how = transport === "mcp" ? `Over MCP the agent, in release ${release.version},` : "The agent";
    const message =
      `${how} gave nothing by which ${name} could go on with its task: ` +
      `${transport === "mcp" ? "answer over A2A, or " : ""}call it anew once the task has ended`;
    return { ok: false, error: localError("INPUT_NOT_CARRIED", message, "correctable") };
  }
  const { idempotency_key: _key, push_notification_config: _push, ...rest } = request;
  const key = of.key === undefined ? {} : { idempotency_key: await answerKey(of.key, of.given, input) };
  return { ok: true, request: { ...rest, ...key, ...(threaded && { context_id: contextId }), ...input } };
}

/**
 * The key of an answer. Who answers again, after a crash or beside another process, makes the same request: of the same call, as its
 * so-manieth answer, and with the same words.
 */
const answerKey = (callKey: string, nth: number, input: JsonObject): Promise<string> =>
  derivedId(`answer ${nth} ${callKey} ${JSON.stringify(input)}`);

/** Questions of one task that are answered without a person: an agent that always has another must not hold the call for ever. */
const MAX_QUESTIONS = 3;

/** What the application answers to a task that asks something; undefined where it does not, or the task asks nothing. */
export async function inputFor(
  { acceptance }: Pick<BuyerSettings, "acceptance">,
  { tool, request, question, questions }: Pick<AskedTask, "request" | "question"> & { tool: string; questions: number },
): Promise<JsonObject | undefined> {
  if (question.status !== "input-required" || questions >= MAX_QUESTIONS) return undefined;
  return acceptance.questions?.({ tool, request, data: question.data, message: question.message });
}
