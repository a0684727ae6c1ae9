/**
 * A receiver on node's own server.
 *
 * The raw body: what is signed is bytes, and whoever reads `request` before the listener has taken them. Give it requests that
 * nobody has read; a route of your own that collects the body comes after it, or beside it as here.
 */
import { createServer, type Server } from "node:http";
import { nodeListener, type Receiver } from "adbind/receiver";

export const start = (receiver: Receiver, port: number): Server => {
  const webhooks = nodeListener(receiver);
  return createServer(async (request, response) => {
    if (request.url?.startsWith("/webhooks/")) return webhooks(request, response);
    let body = "";
    for await (const chunk of request) body += chunk;
    response.setHeader("content-type", "application/json").end(JSON.stringify(JSON.parse(body)));
  }).listen(port, "127.0.0.1");
};
