/** A2A: the official SDK's JSON-RPC handlers, 1.0 and 0.3, over the same calls and tasks as every other transport. */
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { Answerer, AnswererDependencies, AnswererRequest, AnswererResponse } from "../answerer.js";
import { rpcErrorBody } from "../rpc.js";
import { agentCard, CARD_PATHS } from "./card.js";
import { requestHandler, STATE } from "./handler.js";
import { skillsIn } from "./message.js";
import { eventStream } from "./stream.js";

const EXTENSIONS = "a2a-extensions";
/** A2A 1.0, "ExtensionSupportRequiredError". */
const EXTENSION_REQUIRED = -32008;

export function a2aAnswerer(parts: AnswererDependencies): Answerer {
  const card = agentCard(parts);
  const handler = requestHandler(parts, card);
  const current = new JsonRpcTransportHandler(handler);
  const legacy = new LegacyJsonRpcTransportHandler(handler);
  return {
    published: Object.fromEntries(CARD_PATHS.map((path) => [path, card])),
    asks(body) {
      const tools = skillsIn(body);
      // What is no skill's call reads or changes tasks, which are their caller's only.
      return { tools, beside: tools.length > 0 ? "nothing" : "own" };
    },
    fault: (body) => (isJsonObject(body) ? undefined : "A2A takes one JSON-RPC request at a time."),
    async handle(request) {
      const body = request.body as JsonObject;
      const { profile } = parts;
      const profiled = profile !== undefined && extensionsOf(request).includes(profile.uri);
      const headers = profiled ? { [EXTENSIONS]: profile.uri } : {};
      if (profile?.required === true && !profiled) {
        const message = `Activate the extension ${profile.uri}: name it in the header A2A-Extensions.`;
        return json(rpcErrorBody(EXTENSION_REQUIRED, message, body.id), headers);
      }
      // 0.3 names its methods with a slash; a client that leaves the version out is taken by its method.
      const old = typeof body.method === "string" && body.method.includes("/");
      const state = new Map<string, unknown>([
        [STATE.identity, request.identity],
        [STATE.body, body],
        [STATE.profiled, profiled],
      ]);
      const requestedVersion = request.header("a2a-version") ?? (old ? "0.3" : "1.0");
      const context = new ServerCallContext({ state, requestedVersion });
      const answer = await (old ? legacy : current).handle(body, context);
      if (!isStream(answer)) return json(answer, headers);
      return streamed(answer, headers, { old, id: body.id });
    },
  };
}

const extensionsOf = ({ header }: AnswererRequest): string[] =>
  (header(EXTENSIONS) ?? "").split(",").map((uri) => uri.trim());

const isStream = (answer: unknown): answer is AsyncGenerator<unknown> =>
  typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;

const json = (body: unknown, headers: Readonly<Record<string, string>>): AnswererResponse => ({
  status: 200,
  headers: { ...headers, "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** What cannot even begin is an error like any other; a stream carries what came of a call. */
async function streamed(
  events: AsyncGenerator<unknown>,
  headers: Readonly<Record<string, string>>,
  { old, id }: { readonly old: boolean; readonly id: unknown },
): Promise<AnswererResponse> {
  const handler = old ? legacyErrors : currentErrors;
  try {
    const first = await events.next();
    if (first.done === true) return json(rpcErrorBody(-32603, "The stream has ended before it began.", id), headers);
    return {
      status: 200,
      headers: { ...headers, "content-type": "text/event-stream", "cache-control": "no-cache" },
      body: eventStream(first.value, events),
    };
  } catch (error) {
    return json({ jsonrpc: "2.0", id: id ?? null, error: handler(error) }, headers);
  }
}

const currentErrors = (error: unknown): unknown => JsonRpcTransportHandler.mapToJSONRPCError(error);
const legacyErrors = (error: unknown): unknown => LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error);
