/** Tools over A2A 1.0, and 0.3 where an agent has only that, by the official SDK. */
import type { AgentCard, GetTaskRequest, SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { isTaskStatus, type JsonObject } from "../../contract/index.js";
import { dataParts } from "../../extract/a2a.js";
import { a2aState, extractA2aResponse, extractTransportError, unwrapA2a } from "../../extract/index.js";
import { list, member } from "../../extract/json-object.js";
import type { CallerDependencies, Connection, WireAnswer, WireUse } from "../caller.js";
import { RpcError, shortText, WireFault } from "../fault.js";
import { findCard } from "./find-card.js";

/** `ROLE_USER` of the SDK's enum. */
const ROLE_USER = 1;

/** Reads the agent's card. @throws WireFault where there is none */
export async function openA2a(
  { url, word, uuid, fetchFor }: CallerDependencies,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  const legacyCompat = { enabled: true };
  const card = await findCard(url, fetchFor({ signal }));
  const profile = profileOf(card, word);
  const fetchOf = (use: WireUse): typeof globalThis.fetch => {
    const plain = fetchFor(use);
    if (profile === undefined) return plain;
    return (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("a2a-extensions", profile);
      return plain(input, { ...init, headers });
    };
  };
  // A client a use: what the SDK's types drop is put in and read out around it.
  const clientFor = (use: WireUse) =>
    new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl: fetchOf(use), legacyCompat })],
    }).createFromAgentCard(card);
  const ask = async (
    use: Pick<WireUse, "edit" | "signal">,
    job: (client: Awaited<ReturnType<typeof clientFor>>) => Promise<unknown>,
  ): Promise<WireAnswer> => {
    let raw: unknown;
    let asked: unknown;
    const edit = (message: JsonObject): JsonObject => {
      asked = message.id;
      return use.edit?.(message) ?? message;
    };
    const client = await clientFor({ ...use, edit, seen: (message) => (raw = message) }).catch(noPlace(card));
    try {
      await job(client);
    } catch (error) {
      // An error of JSON-RPC, or one the SDK finds in an answer that can be read all the same.
      if (member(raw, "result") === undefined) throw rpcError(raw) ?? error;
    }
    // Two minds: what became of the call is not known.
    if (member(raw, "result") !== undefined && (member(raw, "error") ?? null) !== null)
      throw new WireFault("The agent's answer has both a result and an error", { retryable: true });
    ofRequest(member(raw, "id"), asked);
    return readTask(member(raw, "result"), word);
  };
  return {
    transport: "a2a",
    call: ({ tool, args, push, contextId, taskId, signal: given }) =>
      ask({ signal: given, edit: (message) => withPush(message, push) }, (client) =>
        client.sendMessage({
          message: {
            messageId: uuid(),
            role: ROLE_USER,
            parts: [{ content: { $case: "data", value: invocation(tool, args, profile) } }],
            ...(contextId !== undefined && { contextId }),
            ...(taskId !== undefined && { taskId }),
          },
        } as SendMessageRequest),
      ),
    task: (taskId, given) => ask({ signal: given }, (client) => client.getTask({ id: taskId } as GetTaskRequest)),
    tools: async () => card.skills.map(({ id }) => id),
    close: async () => {},
  };
}

/**
 * What answers another request is not this one's: whoever stands between has mixed them up, and it may be another caller's. Some
 * agents leave the id out, or write it as a text.
 */
function ofRequest(id: unknown, asked: unknown): void {
  if (id === undefined || id === null || asked === undefined || String(id) === String(asked)) return;
  throw new WireFault(shortText(`The agent answered another request: ${id} and not ${asked}`), { retryable: true });
}

/** A card that names no place where we could be heard: nothing was sent, and asking again changes nothing. */
const noPlace =
  (card: AgentCard) =>
  (error: unknown): never => {
    const places = card.supportedInterfaces.map(({ url, protocolBinding }) => `${protocolBinding} at ${url}`);
    const why = `${error instanceof Error ? error.message : error} (it names ${places.join(", ") || "none"})`;
    const remedy = "JSON-RPC is spoken here: have the agent's card name an absolute URL for it";
    throw new WireFault(shortText(`The agent's card names no place to call: ${why}; ${remedy}`), { unsent: true });
  };

/** URI of the protocol's own extension, where the card offers it: `.../extensions/<word>/v<major>`. */
function profileOf({ capabilities }: AgentCard, word: string): string | undefined {
  const own = new RegExp(`/extensions/${word}/v\\d+$`);
  return capabilities?.extensions?.find(({ uri }) => own.test(uri))?.uri;
}

/** The extension has one name for a skill's input; agents without it know the older one. */
const invocation = (skill: string, args: JsonObject, profile: string | undefined): JsonObject =>
  profile === undefined ? { skill, parameters: args } : { skill, input: args };

/**
 * docs/protocol/transports.md#registration-channel: the config goes into `configuration.pushNotificationConfig`. A2A 1.0
 * has no such member, and none of its own has room for an operation id.
 */
function withPush(message: JsonObject, push: JsonObject | undefined): JsonObject {
  if (push === undefined) return message;
  const params = (message.params ?? {}) as JsonObject;
  const configuration = { ...(params.configuration as JsonObject | undefined), pushNotificationConfig: push };
  return { ...message, params: { ...params, configuration } };
}

/** A2A's own codes, but for -32006, an agent's invalid response: no such task, or nothing that the agent does. */
const refusals: ReadonlySet<number> = new Set([-32001, -32002, -32003, -32004, -32005, -32007, -32008, -32009]);

function rpcError(raw: unknown): RpcError | undefined {
  const error = member(raw, "error");
  const code = member(error, "code");
  if (typeof code !== "number") return undefined;
  const message = member(error, "message");
  return new RpcError(
    code,
    typeof message === "string" ? message : "JSON-RPC error",
    member(error, "data"),
    refusals.has(code),
  );
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** A task, or the message some agents answer with. */
function readTask(result: unknown, word: string): WireAnswer {
  if (result === undefined) throw new WireFault("The agent's answer has neither result nor error", { status: 200 });
  const { event } = unwrapA2a(result);
  const state = a2aState(event);
  const { data, problem } = extractA2aResponse(event);
  const said = [event, member(member(event, "status"), "message"), ...list(member(event, "artifacts"))];
  const parts = said.flatMap((one) => list(member(one, "parts")));
  const words = parts.map((part) => text(member(part, "text"))).find((one) => one !== undefined);
  if (problem !== undefined) throw new WireFault("The agent's data stands inside a wrapper", { status: 200 });
  const payload = state === null ? (dataParts(member(event, "parts"))[0] ?? null) : data;
  // A message has an id of its own beside its task's.
  const taskId = text(member(event, "status") === undefined ? member(event, "taskId") : member(event, "id"));
  const status = state === "auth-required" ? "input-required" : state;
  // In a state that is not known, or with a message that has no data, a task that is named can be asked for.
  const open = state === null && payload === null && taskId !== undefined ? "working" : undefined;
  return {
    payload,
    state: isTaskStatus(status) ? status : open,
    error: extractTransportError(event, word),
    text: words === undefined ? undefined : shortText(words),
    taskId,
    contextId: text(member(event, "contextId")),
  };
}
