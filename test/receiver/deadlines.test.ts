/** What somebody else decides the length of, and its end: handlers, bodies, stopping. */
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { fastify } from "fastify";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { nodeListener, webhookReceiver } from "../../runtime/receiver/index.js";
import { envelope, receiverSuite, SELLER, type Setup, send, setup, signed } from "../support/receiver.js";
import { until } from "../support/until.js";

const test = receiverSuite("deadlines");

const never = (): Promise<void> => new Promise(() => undefined);

test("handlers that never return are given up, tried again and kept as dead letters; the others go on", async ({
  open,
}) => {
  const handled: string[] = [];
  const signals: AbortSignal[] = [];
  const s = await open({
    ...{ concurrency: 2, handlerTimeoutSeconds: 1, maxAttempts: 2, pollMs: 20, backoffMs: 0 },
    handlers: {
      fallback: ({ taskId, signal }) => {
        if (taskId?.startsWith("stuck")) {
          signals.push(signal);
          return never();
        }
        handled.push(taskId!);
      },
    },
  });
  for (const task_id of ["stuck-1", "stuck-2", "third"]) await send(s, envelope({ task_id }));
  await until(() => handled.length === 1);
  assert.equal(handled, ["third"]);
  await until(async () => (await s.store.inbox.backlog()).dead === 2);
  assert.is(signals.length, 4);
  assert.ok(signals.every(({ aborted }) => aborted));
  const [dead] = await s.store.inbox.list({ state: "dead" });
  assert.match(dead!.error!, "HandlerOverdue: the handler took longer than 1 s");
});

test("a run that ends after its deadline commits nothing, though its owner has the event again", async ({ open }) => {
  const first = Promise.withResolvers<void>();
  let runs = 0;
  const s = await open({
    ...{ handlerTimeoutSeconds: 1, backoffMs: 0, pollMs: 20 },
    handlers: {
      fallback: async () => {
        runs += 1;
        const run = runs;
        if (run === 1) await first.promise;
        return (db) => void db.prepare("insert into bookings values (?)").run(run);
      },
    },
  });
  s.store.db.exec("create table bookings (run integer)");
  await send(s, envelope());
  await until(
    () => runs === 2,
    () => `${runs} ${s.logs.join("")}`,
  );
  first.resolve();
  await s.receiver.idle();
  assert.equal(s.store.db.prepare("select run from bookings").all(), [{ run: 2 }]);
});

test("stopping waits no longer than asked, and leaves what runs to its lease", async ({ open }) => {
  const s = await open({ handlers: { fallback: never } });
  await send(s, envelope());
  const begun = performance.now();
  assert.is(await s.receiver.stop({ withinMs: 30 }), 1);
  // A handler's own time is a minute.
  assert.ok(performance.now() - begun < 20_000);
  const [left] = await s.store.inbox.list();
  assert.equal([left!.state, left!.attempts], ["pending", 0]);
  assert.ok(s.logs.some((line) => line.includes("left to their lease")));
});

test.run();

interface Served {
  s: Setup;
  ports: readonly number[];
  close: () => Promise<unknown>;
}

const sockets = suite<Served>("bodies");

sockets.before.each(async (context) => {
  const limits = { "/webhooks/big": 4_000_000 } as Record<string, number>;
  const s = await setup({ bodyTimeoutSeconds: 1, maxBodyBytesOf: ({ route }) => limits[route] });
  for (const route of ["/webhooks/a", "/webhooks/big"]) {
    await s.receiver.expect({ route, sender: SELLER, kind: "task", operationId: "op-1" });
  }
  const app = fastify();
  await app.register(webhookReceiver, { receiver: s.receiver });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const server = createServer(nodeListener(s.receiver));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.s = s;
  context.ports = [server, app.server].map((one) => (one.address() as AddressInfo).port);
  context.close = async () => {
    server.closeAllConnections();
    server.close();
    app.server.closeAllConnections();
    await app.close();
    await s.close();
  };
});
sockets.after.each(async ({ close }) => void (await close()));

setFlagsFromString("--expose-gc");
/** What is dropped and not collected yet is not held. */
const collect = runInNewContext("gc") as () => void;

const head = (route: string, length: number): string =>
  `POST ${route} HTTP/1.1\r\nhost: hooks.buyer.example\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

interface Talk {
  /** What came back until the connection was closed. */
  readonly text: string;
  readonly reset: boolean;
}

/** Writes and reads until the server closes. */
const talk = (port: number, write: (socket: Socket) => void): Promise<Talk> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    let text = "";
    let reset = false;
    socket.on("data", (data) => {
      text += data;
    });
    socket.on("error", () => {
      reset = true;
    });
    socket.on("end", () => socket.destroy());
    socket.on("close", () => resolve({ text, reset }));
    write(socket);
  });

sockets("two hundred bodies to no route are answered without being read", async ({ ports }) => {
  for (const port of ports) {
    collect();
    const before = process.memoryUsage().arrayBuffers;
    const open = await Promise.all(
      Array.from(
        { length: 200 },
        () =>
          new Promise<{ socket: Socket; text: string }>((resolve) => {
            const socket = connect(port, "127.0.0.1", () => socket.write(head("/webhooks/none", 1_000_000)));
            socket.on("error", () => undefined);
            socket.once("data", (data) => resolve({ socket, text: String(data) }));
          }),
      ),
    );
    assert.ok(open.every(({ text }) => text.startsWith("HTTP/1.1 404")));
    const rest = Buffer.alloc(100_000);
    for (const { socket } of open) socket.write(rest);
    // What is on its way is held for a moment; what is kept stays.
    await until(() => {
      collect();
      return process.memoryUsage().arrayBuffers - before < 5_000_000;
    }, "the 20 MB that were sent on are let go");
    for (const { socket } of open) socket.destroy();
  }
});

sockets("a body over the limit: its sender reads 413, whether it said so or not", async ({ ports }) => {
  const bytes = Buffer.alloc(3_000_000, " ");
  const chunked = head("/webhooks/a", 0).replace("content-length: 0", "transfer-encoding: chunked");
  for (const port of ports) {
    for (const start of [head("/webhooks/a", bytes.length), `${chunked}${bytes.length.toString(16)}\r\n`]) {
      const { text, reset } = await talk(port, (socket) => socket.write(start) && socket.write(bytes));
      assert.match(text, /^HTTP\/1\.1 413 /);
      assert.match(text, "body_too_large");
      assert.not(reset);
    }
  }
});

sockets("a route may have a limit of its own", async ({ s, ports }) => {
  const raw = Buffer.from(JSON.stringify({ ...envelope(), message: "x".repeat(2_000_000) }));
  for (const [route, status] of [
    ["/webhooks/big", 200],
    ["/webhooks/a", 413],
  ] as const) {
    const { headers, body } = await signed(s, null, { route, raw });
    const answer = await fetch(`http://127.0.0.1:${ports[0]}${route}`, {
      method: "POST",
      body,
      headers: fields(headers),
    });
    // The host is another one: the signature is refused after the body was read.
    assert.is(answer.status, status === 200 ? 401 : status, route);
  }
});

const fields = (headers: object): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "host"));

sockets("a body that stays out is answered 408 and its connection closed", async ({ ports }) => {
  const answers = await Promise.all(
    ports.map((port) => talk(port, (socket) => socket.write(`${head("/webhooks/a", 100)}{`))),
  );
  for (const { text } of answers) assert.match(text, /^HTTP\/1\.1 408 /);
});

sockets.run();
