/** An agent's capabilities, asked over A2A 1.0, and 0.3 where its card has only that. */
import { isJsonObject } from "../../contract/json-object.js";
import { type AgentQuestion, MAX_CAPABILITIES_BYTES, messageIn, postJson, rpcRequest } from "./asked.js";
import { fetchJson, type JsonRecord } from "./fetch-json.js";

const CARD_PATH = "/.well-known/agent-card.json";

/** Where the agent takes messages, and in which of the two versions. */
interface Interface {
  readonly url: string;
  readonly newer: boolean;
  /** Extensions that a message must say it knows. */
  readonly extensions: readonly string[];
}

/** @throws Error where there are none */
export async function askA2a(question: AgentQuestion): Promise<JsonRecord> {
  const { fetch, tool } = question;
  const { url, newer, extensions } = await interfaceOf(question);
  const invocation = { skill: tool, input: {} };
  const parts = [newer ? { data: invocation } : { kind: "data", data: invocation }];
  const messageId = crypto.randomUUID();
  const message = newer ? { messageId, role: "ROLE_USER", parts } : { kind: "message", messageId, role: "user", parts };
  const call = rpcRequest(newer ? "SendMessage" : "message/send", { message });
  const answer = await postJson(fetch, url, call, {
    accept: "application/json",
    ...(newer && { "a2a-version": "1.0" }),
    ...(newer && extensions.length > 0 && { "a2a-extensions": extensions.join(", ") }),
  });
  if (answer.status !== 200) throw new Error(`the agent answered ${answer.status}`);
  return capabilitiesIn(messageIn(answer));
}

/** The card is under the agent's URL where one server has several agents, else at its origin. */
async function interfaceOf({ fetch, url }: AgentQuestion): Promise<Interface> {
  const { origin } = new URL(url);
  const beside = `${url.replace(/[?#].*$/s, "").replace(/\/+$/, "")}${CARD_PATH}`;
  let detail = "";
  for (const place of new Set([beside, `${origin}${CARD_PATH}`])) {
    const card = await fetchJson(fetch, place, { maxBytes: MAX_CAPABILITIES_BYTES });
    if (card.ok) return spokenAt(card.value, origin);
    ({ detail } = card);
    if (card.kind !== "absent") break;
  }
  throw new Error(`the agent has no card (${detail})`);
}

/** The interface that a card names; one at another origin would not be this agent. */
function spokenAt(card: JsonRecord, origin: string): Interface {
  const listed = Array.isArray(card.supportedInterfaces) ? card.supportedInterfaces.filter(isJsonObject) : [];
  const newest = listed.find(
    (one) => one.protocolBinding === "JSONRPC" && String(one.protocolVersion).startsWith("1."),
  );
  const older = listed.find((one) => one.protocolBinding === "JSONRPC") ?? card;
  const { url } = newest ?? older;
  if (typeof url !== "string" || URL.parse(url)?.origin !== origin)
    throw new Error("the agent's card names no interface at its own origin");
  const { extensions } = isJsonObject(card.capabilities) ? card.capabilities : {};
  const required = (Array.isArray(extensions) ? extensions.filter(isJsonObject) : []).filter(
    (one) => one.required === true,
  );
  const known = required.flatMap(({ uri }) =>
    typeof uri === "string" && /^[\x21-\x2b\x2d-\x7e]+$/.test(uri) ? [uri] : [],
  );
  return { url, newer: newest !== undefined, extensions: known };
}

/** Data of the last part that has any: of the first artifact of a task that is done, or of a message. */
function capabilitiesIn(answer: unknown): JsonRecord {
  const result = isJsonObject(answer) ? answer.result : undefined;
  const event = isJsonObject(result) ? (result.task ?? result.message ?? result) : undefined;
  if (!isJsonObject(event)) throw new Error("the agent does not tell its capabilities");
  const state = isJsonObject(event.status) ? event.status.state : undefined;
  if (state !== undefined && state !== "completed" && state !== "TASK_STATE_COMPLETED")
    throw new Error("the agent does not tell its capabilities");
  const [artifact] = Array.isArray(event.artifacts) ? event.artifacts : [event];
  const parts: unknown[] = isJsonObject(artifact) && Array.isArray(artifact.parts) ? artifact.parts : [];
  const told = parts.filter(isJsonObject).findLast(({ data }) => isJsonObject(data))?.data;
  if (!isJsonObject(told)) throw new Error("the agent's capabilities are no JSON object");
  return told;
}
