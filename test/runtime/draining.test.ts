/** Servers end, whoever holds a connection to them and says nothing; and what they have been asked is answered first. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import fastify from "fastify";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { drainInTime } from "../../runtime/draining.js";
import { createRegistryPart } from "../../runtime/registry/index.js";
import { setupRegistry } from "../registry/server-fixture.js";
import { newBench, openSeller } from "../seller/fixture.js";

/** Long after a server that waits for nobody has ended, in milliseconds. */
const PATIENCE_MS = 10_000;

const beginnings = {
  nothing: "",
  "half of a head": "POST /mcp HTTP/1.1\r\nhost: a\r\n",
  "half of a body": "POST /mcp HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
};

async function saying(address: string, words: string): Promise<Socket> {
  const socket = connect(Number(new URL(address).port), "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  if (words !== "") socket.write(words);
  return socket;
}

/** Three who say too little, and the server's end before the test's. */
async function endsBefore(address: string, stop: () => Promise<unknown>): Promise<boolean> {
  const sockets: Socket[] = [];
  for (const words of Object.values(beginnings)) sockets.push(await saying(address, words));
  // Until the server has seen them.
  await setTimeout(100);
  const ended = await Promise.race([stop().then(() => true), setTimeout(PATIENCE_MS, false)]);
  for (const socket of sockets) socket.destroy();
  return ended;
}

test("a seller's end waits for nobody who has asked nothing", async () => {
  const seller = await openSeller<never>(newBench(), {});
  assert.ok(await endsBefore(await seller.start(), () => seller.close()));
});

test("neither does a registry's, nor that of a part of its index", async () => {
  const { registry, close, store } = await setupRegistry();
  const part = await createRegistryPart({ store, part: "1/1", token: "a-token-of-sixteen-letters-and-more" });
  assert.ok(await endsBefore(await part.listen({ port: 0 }), () => part.stop()));
  assert.ok(await endsBefore(await registry.listen({ port: 0 }), () => registry.stop()));
  await close();
});

test("an answer under way is given whole, and what comes in slowly is cut off by then", async () => {
  const app = fastify({ forceCloseConnections: "idle" });
  drainInTime(app);
  const held = Promise.withResolvers<string>();
  app.get("/", () => held.promise);
  const address = await app.listen({ port: 0 });
  const silent = await saying(address, "");
  const asking = await saying(address, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const answer = text(asking);
  await setTimeout(100);
  const closed = app.close();
  await setTimeout(3_000);
  const cut = once(silent, "close");
  held.resolve("x".repeat(1_000_000));
  assert.match(await answer, /x{1000000}$/);
  assert.ok(await Promise.race([Promise.all([cut, closed]).then(() => true), setTimeout(PATIENCE_MS, false)]));
});

test.run();
