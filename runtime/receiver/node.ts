/** The receiver on node's own server. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "./receiver.js";
import type { ReceiverRequest } from "./types.js";

/** Fields as they came in, doubled ones apart: node's own record drops some of them. */
function* fieldPairs(raw: readonly string[]): Iterable<readonly [string, string]> {
  for (let i = 0; i < raw.length; i += 2) yield [raw[i]!, raw[i + 1]!];
}

const headersOf = (raw: readonly string[]): Iterable<readonly [string, string]> => ({
  [Symbol.iterator]: () => fieldPairs(raw)[Symbol.iterator](),
});

/** A request of node's server as a receiver takes it. */
export const nodeRequest = (message: IncomingMessage): ReceiverRequest => ({
  method: message.method ?? "",
  target: message.url ?? "",
  headers: headersOf(message.rawHeaders),
  body: message,
});

/** A listener for `http.createServer`. */
export const nodeListener =
  (receiver: Pick<Receiver, "handle">) =>
  async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, headers, body } = await receiver.handle(nodeRequest(message));
    response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
  };
