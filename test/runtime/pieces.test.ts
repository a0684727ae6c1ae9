/** Bodies that come in many small pieces: what is held of them is about what has come. */
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { fastify } from "fastify";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gatherBodies } from "../../runtime/gathering.js";
import { Pieces } from "../../runtime/pieces.js";
import { readBody } from "../../runtime/receiver/body.js";
import { cleanUp, cleanups, guardedFetch, listen } from "../net/loopback-server.js";
import { numbers } from "../support/random.js";
import { turns, until } from "../support/until.js";

const test = suite("pieces");
test.after.each(cleanUp);

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
/** In bytes. Memory that nobody has any more is given back a while after it was found. */
const held = async (): Promise<number> => {
  for (let turn = 0; turn < 3; turn++) {
    collect();
    await sleep(50);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const PIECES = 200_000;
const CHUNK = "1\r\n1\r\n";
/** Each piece held by itself would take more than a hundred bytes. */
const MOST_HELD = 40 * PIECES;

/** Sends as many bytes, each as a chunk of its own, and not the end. */
const trickle = (socket: Socket, head: string): void => {
  socket.on("error", () => undefined);
  socket.write(head);
  socket.write(CHUNK.repeat(PIECES));
};

/** How much more is held once all pieces have come. */
async function cost(begin: () => void, come: () => number): Promise<number> {
  const before = await held();
  begin();
  await until(
    () => come() === PIECES,
    () => `${come()} have come`,
  );
  return (await held()) - before;
}

test("whatever the pieces, they are what has come, in its order", () => {
  const random = numbers(7);
  for (let round = 0; round < 200; round++) {
    const pieces = new Pieces();
    const expected: number[] = [];
    for (let count = Math.floor(random() * 40); count > 0; count--) {
      const length = Math.floor(random() ** 4 * 5_000);
      const piece = Uint8Array.from({ length }, () => Math.floor(random() * 256));
      // Some alone in their memory, some as a part of what was read.
      pieces.add(random() < 0.5 ? piece : Buffer.concat([piece, Buffer.alloc(9_000)]).subarray(0, length));
      expected.push(...piece);
    }
    assert.is(pieces.size, expected.length);
    assert.ok(Buffer.from(expected).equals(pieces.bytes));
  }
});

test("a small part of what was read keeps no more than itself", async () => {
  const before = await held();
  const pieces = new Pieces();
  for (let count = 0; count < 500; count++) pieces.add(new Uint8Array(65_536).subarray(0, 2_000));
  assert.ok((await held()) - before < 5_000_000);
  assert.is(pieces.bytes.byteLength, 1_000_000);
});

test("an answer that comes a byte at a time takes no more memory than one that comes at once", async () => {
  let sent = false;
  let bytes = 0;
  const server = createTcpServer((socket) =>
    socket.once("data", () => {
      trickle(socket, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
      sent = true;
    }),
  );
  const url = `http://seller.example.com:${await listen(server)}/`;
  const over = new AbortController();
  let asked: Promise<unknown> | undefined;
  const more = await cost(
    () => {
      const enough = () => (piece: Uint8Array) => {
        bytes += piece.byteLength;
        return false;
      };
      asked = guardedFetch()(url, { enough, signal: over.signal });
    },
    () => bytes,
  );
  assert.ok(sent);
  assert.ok(more < MOST_HELD, `${more} bytes`);
  over.abort();
  await asked;
});

const HEAD = "POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";

/** Posts a body a byte at a time. */
async function post(port: number, come: () => number): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  cleanups.push(() => void socket.destroy());
  return cost(() => trickle(socket, HEAD), come);
}

test("the same holds of a webhook that is received", async () => {
  let come = 0;
  const server = createServer(async (message, response) => {
    message.on("data", (piece: Buffer) => {
      come += piece.length;
    });
    await readBody(message, { capBytes: 2 * PIECES, withinMs: 60_000 });
    response.end();
  });
  const more = await post(await listen(server), () => come);
  assert.ok(more < MOST_HELD, `${more} bytes`);
});

test("the same holds of a body that a fastify app parses, and that is still parsed whole", async () => {
  let socket: Socket | undefined;
  const app = fastify();
  cleanups.push(() => app.close());
  gatherBodies(app);
  app.post("/", async ({ body }) => body);
  await app.listen({ port: 0, host: "127.0.0.1" });
  app.server.once("connection", (one) => {
    socket = one;
  });
  const { port } = app.server.address() as AddressInfo;
  const more = await post(port, () => Math.floor(((socket?.bytesRead ?? 0) - HEAD.length) / CHUNK.length));
  assert.ok(more < MOST_HELD, `${more} bytes`);
  const body = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => `word ${at}`));
  const answered = await fetch(`http://127.0.0.1:${port}/`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, body },
  });
  assert.ok((await answered.text()) === body);
});

test("a body of a type that an app does not parse leaves its connection to the next request", async () => {
  const app = fastify();
  cleanups.push(() => app.close());
  gatherBodies(app);
  app.post("/", async () => "taken");
  await app.listen({ port: 0, host: "127.0.0.1" });
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  cleanups.push(() => void socket.destroy());
  let heard = "";
  socket.on("data", (piece) => {
    heard += piece;
  });
  const large = `400\r\n${"1".repeat(1_024)}\r\n`.repeat(200);
  socket.write(`${HEAD.replace("application/json", "text/html")}${large}0\r\n\r\n${HEAD}${CHUNK}0\r\n\r\n`);
  await until(
    () => heard.includes("taken"),
    () => heard,
  );
  assert.match(heard, /^HTTP\/1.1 415 /);
});

test("who hangs up in a body that was refused for its size, before an answer could leave, ends no process", async () => {
  const faults: unknown[] = [];
  const note = (error: unknown): void => void faults.push(error);
  process.on("uncaughtException", note);
  cleanups.push(() => void process.off("uncaughtException", note));
  const app = fastify({ bodyLimit: 50_000 });
  cleanups.push(() => app.close());
  gatherBodies(app);
  const [slow, refused, gone] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  app.get("/", () => slow!.promise);
  app.post("/", async () => "taken");
  app.addHook("onError", async () => refused!.resolve());
  app.server.once("connection", (one) => one.once("close", () => gone!.resolve()));
  await app.listen({ port: 0, host: "127.0.0.1" });
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
  // The answer to the second request waits for that to the first one.
  socket.write(`GET / HTTP/1.1\r\nhost: a\r\n\r\n${HEAD}`);
  socket.write(`400\r\n${"1".repeat(1_024)}\r\n`.repeat(100));
  await refused!.promise;
  socket.resetAndDestroy();
  await gone!.promise;
  await turns();
  slow!.resolve();
  assert.equal(faults, []);
});

test.run();
