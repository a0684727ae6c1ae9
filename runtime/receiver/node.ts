/** The receiver on node's own server, and on what stands on it: express, connect, a middleware. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "./receiver.js";
import type { ReceiverAnswer, ReceiverRequest } from "./types.js";

/** Fields as they came in, doubled ones apart: node's own record drops some of them. Made once: they are looked through several times. */
function headersOf(raw: readonly string[]): readonly (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at < raw.length; at += 2) pairs.push([raw[at]!, raw[at + 1]!]);
  return pairs;
}

/** What frameworks leave on a request. */
interface Framed {
  /** The target as it came, where an app is mounted under a path. */
  readonly originalUrl?: unknown;
  /** The bytes, of `express.raw()`; something else where it was parsed. */
  readonly body?: unknown;
}

/** A request of node's server as a receiver takes it: `originalUrl` and the bytes of `express.raw()` where they are there. */
export function nodeRequest(message: IncomingMessage): ReceiverRequest {
  const { originalUrl, body } = message as IncomingMessage & Framed;
  // What was parsed is handed on as it is: the receiver says what is wrong with it.
  const read = body instanceof Uint8Array || (message.readableEnded && body !== undefined);
  return {
    method: message.method ?? "",
    target: typeof originalUrl === "string" ? originalUrl : (message.url ?? ""),
    headers: headersOf(message.rawHeaders),
    body: read ? (body as Uint8Array) : message,
  };
}

/** Most bytes taken of a body nobody wants, so that its sender reads why rather than a reset: 4 MiB. */
const DRAIN_BYTES = 4 * 1024 * 1024;
/** And for how long, in milliseconds. */
const DRAIN_MS = 2_000;

/** Was a request answered before its body had come, and is its sender still sending? */
export const isUnread = (message: IncomingMessage, { status, headers }: ReceiverAnswer): boolean =>
  // Who was too slow has had its time.
  headers.connection === "close" && status !== 408 && !message.complete && !message.destroyed;

/** Drops the rest of a body, up to a bound. */
const drain = (message: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    let size = 0;
    const take = (chunk: Uint8Array): void => {
      size += chunk.length;
      if (size > DRAIN_BYTES) done();
    };
    const done = (): void => {
      clearTimeout(timer);
      message.off("data", take).off("end", done).off("close", done).off("error", done);
      message.on("error", () => undefined).pause();
      resolve();
    };
    const timer = setTimeout(done, DRAIN_MS).unref();
    message.on("data", take).on("end", done).on("close", done).on("error", done).resume();
  });

/** Sends an answer; one that comes before its request's end is sent whole, then the rest is dropped and the connection closed. */
export async function respond(
  message: IncomingMessage,
  response: ServerResponse,
  answer: ReceiverAnswer,
): Promise<void> {
  // A deadline of the application's has come first: a second answer would be an error that nobody handles.
  if (response.headersSent) return;
  const { status, headers, body } = answer;
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
  if (!isUnread(message, answer)) {
    response.end(body);
    return;
  }
  response.write(body);
  await drain(message);
  response.end();
}

/** A listener for `http.createServer`, and a handler for express (`app.use("/webhooks", nodeListener(receiver))`). */
export const nodeListener =
  (receiver: Pick<Receiver, "handle">) =>
  async (message: IncomingMessage, response: ServerResponse): Promise<void> =>
    respond(message, response, await receiver.handle(nodeRequest(message)));
