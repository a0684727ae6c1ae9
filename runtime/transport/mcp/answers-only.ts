/**
 * What the SDK is shown of an agent's answers. It takes requests and notifications from them too, as many as there are, and
 * answers each request by one of its own: a few megabytes of them would have a caller send a hundred thousand requests, with its
 * credentials, and get to nothing else. None is of use here, for a body is read before any of it is heard.
 */
import type { JsonObject } from "../../contract/index.js";
import { answerAmongEvents, isEventStream } from "../../net/answer-event.js";
import { WireFault } from "../fault.js";

const idOf = (body: RequestInit["body"]): unknown =>
  typeof body === "string" ? (JSON.parse(body) as JsonObject).id : undefined;

/** The answer in an array of messages, which older revisions have. */
function answerAmong(messages: readonly unknown[], isId: (id: unknown) => boolean): string | undefined {
  const answer = messages.find((one) => {
    const message = one as JsonObject | null;
    return isId(message?.id) && (message?.result !== undefined || message?.error !== undefined);
  });
  return answer === undefined ? undefined : JSON.stringify(answer);
}

/** The messages of a body where they are not an answer alone, which is left as it came; so is what cannot be read. */
function messagesIn(text: string): readonly unknown[] | undefined {
  try {
    const said = JSON.parse(text) as JsonObject | readonly unknown[] | null;
    if (Array.isArray(said)) return said;
    return (said as JsonObject | null)?.method === undefined ? undefined : [said];
  } catch {
    // It is the SDK's to say what is wrong with it.
    return undefined;
  }
}

/** A fetch whose answers bring the answer to a request, and nothing beside it. */
export function answersOnly(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, ok, body } = response;
    const id = idOf(init?.body);
    // Of any status that is good the SDK hears messages, as long as there is a body.
    if (id === undefined || !ok || body === null) return response;
    const headers = Object.fromEntries(response.headers);
    const text = await response.text();
    const stream = isEventStream(headers);
    const messages = stream ? undefined : messagesIn(text);
    if (!stream && messages === undefined) return new Response(text, { status, headers });
    // Some servers give a number back as a text, and the SDK takes it.
    const isId = (one: unknown): boolean => String(one) === String(id);
    const answer = stream ? answerAmongEvents(text, isId) : answerAmong(messages!, isId);
    if (answer === undefined) {
      // It may have acted on the request all the same.
      throw new WireFault("The agent's answer has none to the request among its messages", { retryable: true });
    }
    return new Response(answer, { status, headers: { ...headers, "content-type": "application/json" } });
  };
}
