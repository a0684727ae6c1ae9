/**
 * A seller in an app that is there already. It answers what is its own: /mcp, /a2a and what it publishes below /.well-known/; every
 * other path is the app's. Requests come to it before anything reads their bodies, since signatures are over their bytes.
 */
import { createServer, type Server } from "node:http";
import { serve } from "@hono/node-server";
import type { MountedSeller } from "adbind/seller";
import express from "express";
import { fastify } from "fastify";
import { Hono } from "hono";

type Start = (seller: MountedSeller, port: number) => Server | Promise<Server>;

export const inExpress: Start = (seller, port) => {
  const app = express();
  app.use(seller.listener);
  app.use(express.json());
  app.post("/orders", (request, response) => void response.json(request.body));
  return app.listen(port, "127.0.0.1");
};

export const inFastify: Start = async (seller, port) => {
  const app = fastify();
  await app.register(seller.plugin);
  app.post("/orders", async (request) => request.body);
  await app.listen({ port, host: "127.0.0.1" });
  return app.server;
};

/** The same for whatever speaks in fetch's requests and responses. */
export const inHono: Start = (seller, port) => {
  const app = new Hono();
  app.use((c, next) => (seller.owns(c.req.path) ? seller.fetch(c.req.raw) : next()) as Promise<Response>);
  app.post("/orders", async (c) => c.json(await c.req.json()));
  return serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }) as Server;
};

export const inNode: Start = (seller, port) =>
  createServer((request, response) =>
    seller.listener(request, response, async () => {
      let body = "";
      for await (const chunk of request) body += chunk;
      response.setHeader("content-type", "application/json").end(JSON.stringify(JSON.parse(body)));
    }),
  ).listen(port, "127.0.0.1");
