/** Streams of server-sent events that are asked for one answer: a server should end such a stream behind it, and some do not. */
import type { Enough } from "./answer.js";

/** Does a body hold events, by the fields of its answer. */
export const isEventStream = (headers: Readonly<Record<string, string>>): boolean =>
  /^text\/event-stream\s*(?:;|$)/i.test(headers["content-type"] ?? "");

/** The data of each event of a stream, as it comes in pieces. */
function eventReader(take: (data: string) => void): (piece: Uint8Array) => void {
  const decoder = new TextDecoder();
  let line = "";
  let data: string[] = [];
  let held = "";
  const endLine = (): void => {
    if (line === "") {
      if (data.length > 0) take(data.join("\n"));
      data = [];
    } else if (line.startsWith("data:")) data.push(line.slice("data:".length));
    line = "";
  };
  return (piece) => {
    const text = held + decoder.decode(piece, { stream: true });
    // Its other half may come with the next piece; readers of the stream wait for that too.
    held = text.endsWith("\r") ? "\r" : "";
    const [first = "", ...others] = text.slice(0, text.length - held.length).split(/\r\n|\r|\n/);
    line += first;
    for (const next of others) {
      endLine();
      line = next;
    }
  };
}

/** Events that are no JSON are looked into so many times: finding that out costs a thousand times what sending one does. */
const MOST_UNREAD = 1_000;

/** Says of the data of an event whether it answers a request. @param isId of an answer */
function answering(isId: (id: unknown) => boolean): (data: string) => boolean {
  let unread = 0;
  return (data) => {
    if (unread === MOST_UNREAD) return false;
    try {
      const message = JSON.parse(data) as Readonly<Record<string, unknown>> | null;
      return message !== null && isId(message.id) && ("result" in message || "error" in message);
    } catch {
      unread += 1;
      return false;
    }
  };
}

/** The id of a request; undefined of what is none. */
function idIn(request: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof request === "string" ? request : new TextDecoder().decode(request))?.id;
  } catch {
    return undefined;
  }
}

/**
 * A stream of events is read until it has brought the answer of JSON-RPC to a request; any other body to its end.
 * @param request as it is sent
 */
export const answerEvent =
  (request: Uint8Array | string): Enough =>
  (headers) => {
    if (!isEventStream(headers)) return undefined;
    const id = idIn(request);
    if (id === undefined) return undefined;
    let arrived = false;
    const isAnswer = answering((one) => one === id);
    const read = eventReader((data) => {
      arrived ||= isAnswer(data);
    });
    return (piece) => {
      read(piece);
      return arrived;
    };
  };

/**
 * The answer that a whole stream of events has brought to a request; undefined where it has brought none.
 * @param isId is it the id of the request
 */
export function answerAmongEvents(stream: string, isId: (id: unknown) => boolean): string | undefined {
  let answer: string | undefined;
  const isAnswer = answering(isId);
  const read = eventReader((data) => {
    if (answer === undefined && isAnswer(data)) answer = data;
  });
  read(new TextEncoder().encode(stream));
  return answer;
}
