/**
 * A receiver in fastify, as a plugin.
 *
 * The raw body: fastify parses JSON before a handler is called, and the bytes that were signed are gone. The plugin answers in
 * `onRequest`, which comes before parsing, so nothing needs to be set: no `rawBody` plugin, no content type parser. A hook of
 * your own that reads `request.raw` must not be there for its routes. Other routes keep fastify's parser.
 */
import type { Server } from "node:http";
import { type Receiver, webhookReceiver } from "adbind/receiver";
import { fastify } from "fastify";

export const start = async (receiver: Receiver, port: number): Promise<Server> => {
  const app = fastify();
  await app.register(webhookReceiver, { receiver, paths: ["/webhooks/*"] });
  app.post("/orders", async (request) => request.body);
  await app.listen({ port, host: "127.0.0.1" });
  return app.server;
};
