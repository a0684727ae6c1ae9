/**
 * A receiver in Hono.
 *
 * The raw body: `c.req.json()`, a validator or a logger that reads the body before leaves none to verify; a fetch request can be
 * read once. Hand `c.req.raw` on before anything reads it. `app.all` rather than `app.post`: the receiver says itself which
 * method it takes. `app.mount` would cut the path off the URL; `app.route` and `app.all` leave it.
 */
import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import type { Receiver } from "adbind/receiver";
import { Hono } from "hono";

export const start = (receiver: Receiver, port: number): Server => {
  const app = new Hono();
  app.all("/webhooks/*", (c) => receiver.fetch(c.req.raw));
  app.post("/orders", async (c) => c.json(await c.req.json()));
  return serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }) as Server;
};
