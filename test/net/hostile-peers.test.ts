/** Peers that answer so that it costs: connections, descriptors, processor. Real sockets on loopback. */
import { createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { cleanUp, codeOf, guardedFetch, listen, textOf } from "./loopback-server.js";

const test = suite("hostile peers");
test.after.each(cleanUp);

/** A peer that answers each request in its own way, and how many of its connections are open. */
async function peer(answer: (socket: Socket) => unknown) {
  const open = new Set<Socket>();
  let most = 0;
  const server = createServer((socket) => {
    open.add(socket);
    most = Math.max(most, open.size);
    socket.on("error", () => undefined);
    socket.on("close", () => open.delete(socket));
    socket.on("data", () => void answer(socket));
  });
  const port = await listen(server);
  return { url: `http://seller.example.com:${port}/`, open, most: () => most };
}

const head = (text: string): string => `HTTP/1.1 ${text}\r\n\r\n`;

test("of bodies that hang behind answers that were told a few are waited for, whoever asks again", async () => {
  const { url, open, most } = await peer((socket) => socket.write(head("200 OK\r\ncontent-length: 9")));
  const guarded = guardedFetch();
  for (let turn = 0; turn < 50; turn++) {
    const asked = Array.from({ length: 10 }, () => guarded(url, { readBody: false }));
    for (const result of await Promise.all(asked)) assert.is(codeOf(result), "status 200");
  }
  // Some have just been given up, and the peer has not noticed yet.
  assert.ok(most() < 128, `${most()} connections`);
  await until(() => open.size === 0);
});

test("a peer that asks for its connection to be kept for longer than others has it for no longer", async () => {
  const { url, open } = await peer((socket) =>
    socket.write(head("200 OK\r\ncontent-length: 0\r\nkeep-alive: timeout=600")),
  );
  assert.is(codeOf(await guardedFetch()(url)), "status 200");
  assert.is(open.size, 1);
  await sleep(5_500);
  assert.is(open.size, 0);
});

test("a few interim answers go before the real one; whoever sends nothing else is not listened to", async () => {
  const early = head("103 Early Hints\r\nlink: </a>");
  const polite = await peer((socket) => socket.write(`${early.repeat(3)}${head("204 No Content")}`));
  assert.is(codeOf(await guardedFetch()(polite.url)), "status 204");
  const endless = await peer((socket) => {
    const timer = setInterval(() => socket.write(early.repeat(100)), 5);
    socket.on("close", () => clearInterval(timer));
  });
  assert.is(codeOf(await guardedFetch({ timeouts: { totalMs: 3_000 } })(endless.url)), "too_large");
  await until(() => endless.open.size === 0);
});

test("a peer that says to continue unasked is heard out, and what its body says is left as it is", async () => {
  const go = head("100 Continue");
  const body = "HTTP/1.1 100 Continue\r\n\r\n";
  const whole = head(`200 OK\r\ncontent-length: ${body.length}`);
  const ways: Record<string, readonly string[]> = {
    "at once": [`${go}${whole}${body}`],
    "in pieces": [go, whole, body],
    "several times": [`${go}${head("103 Early Hints")}${go}`, go, whole, body],
    "as the body alone": [whole, body],
  };
  for (const [way, pieces] of Object.entries(ways)) {
    const { url } = await peer(async (socket) => {
      for (const piece of pieces) {
        socket.write(piece);
        await sleep(30);
      }
    });
    const guarded = guardedFetch();
    for (let request = 0; request < 2; request++) assert.is(textOf(await guarded(url)), body, way);
  }
  const endless = await peer((socket) => {
    const timer = setInterval(() => socket.write(go.repeat(100)), 5);
    socket.on("close", () => clearInterval(timer));
  });
  assert.is(codeOf(await guardedFetch({ timeouts: { totalMs: 3_000 } })(endless.url)), "too_large");
});

test.run();
