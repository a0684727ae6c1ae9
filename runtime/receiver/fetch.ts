/** The receiver on any server that speaks in fetch's requests and responses: Hono, Bun, Deno, workers, route handlers. */
import type { ReceiverAnswer, ReceiverRequest } from "./types.js";

const NO_BODY = new Uint8Array();

/** The target as it was sent: everything of the URL after its authority. */
const targetOf = (url: string): string => {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const target = start < 0 ? "/" : url.slice(start);
  const fragment = target.indexOf("#");
  return fragment < 0 ? target : target.slice(0, fragment);
};

/**
 * A fetch request as a receiver takes it. Its header fields are joined where they were doubled, which the verifier sees by
 * their commas.
 */
function fetchRequest(request: Request): ReceiverRequest {
  return {
    method: request.method,
    target: targetOf(request.url),
    headers: request.headers,
    // Whoever has read it before gives what is no body any more.
    body: request.bodyUsed ? (undefined as never) : (request.body ?? NO_BODY),
  };
}

/** A handler of fetch's kind: `app.post("/webhooks/*", (c) => receiver.fetch(c.req.raw))`. */
export const fetchHandler =
  (handle: (request: ReceiverRequest) => Promise<ReceiverAnswer>) =>
  async (request: Request): Promise<Response> => {
    const { status, headers, body } = await handle(fetchRequest(request));
    return new Response(body, { status, headers });
  };
