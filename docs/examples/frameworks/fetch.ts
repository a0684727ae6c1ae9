/**
 * A receiver on whatever speaks in fetch's requests and responses: `Bun.serve({ fetch: receiver.fetch })`,
 * `Deno.serve(receiver.fetch)`, `export const POST = receiver.fetch` in a route handler of Next. Here, a server for node.
 *
 * The raw body: a fetch request is read once. Pass the request on as it came, before `request.json()` or `request.text()`, and
 * not a copy made from a parsed body: `new Request(url, { body: JSON.stringify(...) })` has other bytes than were signed.
 */
import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import type { Receiver } from "adbind/receiver";

export const start = (receiver: Receiver, port: number): Server => {
  const fetch = async (request: Request): Promise<Response> =>
    new URL(request.url).pathname.startsWith("/webhooks/")
      ? receiver.fetch(request)
      : Response.json(await request.json());
  return serve({ fetch, port, hostname: "127.0.0.1" }) as Server;
};
