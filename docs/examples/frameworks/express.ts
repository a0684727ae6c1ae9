/**
 * A receiver in express 5.
 *
 * The raw body: `express.json()` reads the body and leaves an object, from which the bytes that were signed cannot be made again.
 * Mount the receiver before it; what the receiver answers goes no further. Where `express.json()` has to come first, give the
 * receiver's path a parser of its own before that: `app.use("/webhooks", express.raw({ type: "application/json" }))`, whose
 * Buffer is taken as it is. A parsed body is answered 500 `body_not_raw`, with the remedy in the log.
 *
 * `app.use` with a path cuts it off `request.url`; the receiver reads `originalUrl`, so routes are named in full.
 */
import type { Server } from "node:http";
import { nodeListener, type Receiver } from "adbind/receiver";
import express from "express";

export const start = (receiver: Receiver, port: number): Server => {
  const app = express();
  app.use("/webhooks", nodeListener(receiver));
  app.use(express.json());
  app.post("/orders", (request, response) => void response.json(request.body));
  return app.listen(port, "127.0.0.1");
};
