/** Over real sockets: the fastify plugin and node's own server. */
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { fastify } from "fastify";
import { pino } from "pino";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { nodeListener, type ReceiverRequest, webhookOptions, webhookReceiver } from "../../runtime/receiver/index.js";
import { envelope, keysOf, PUBLIC_URL, SELLER, type Setup, send, setup, signed } from "../support/receiver.js";

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

const post = (port: number, { method, target, headers, body }: ReceiverRequest, chunked = false): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const bytes = body as Uint8Array;
    const length = chunked ? {} : { "content-length": bytes.length };
    const fields = { ...(headers as Record<string, string>), ...length };
    const sent = httpRequest({ host: "127.0.0.1", port, method, path: target, headers: fields }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => resolve({ status: answer.statusCode!, headers: answer.headers, body: text }));
    });
    sent.on("error", reject);
    if (chunked) for (let i = 0; i < bytes.length; i += 7) sent.write(bytes.subarray(i, i + 7));
    else sent.write(bytes);
    sent.end();
  });

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));

interface Context {
  s: Setup;
  ports: Record<string, number>;
  close: () => Promise<unknown>;
}
const test = suite<Context>("http");

test.before.each(async (context) => {
  const s = await setup();
  await s.receiver.expect({ route: "/webhooks/a", sender: SELLER, kind: "task", operationId: "op-1" });
  const app = fastify();
  await app.register(webhookReceiver, { receiver: s.receiver });
  app.post("/echo", async (request) => request.body);
  await app.listen({ port: 0, host: "127.0.0.1" });
  const server = createServer(nodeListener(s.receiver));
  const port = await listen(server);
  context.s = s;
  context.ports = { fastify: (app.server.address() as AddressInfo).port, node: port };
  context.close = async () => {
    await app.close();
    server.closeAllConnections();
    server.close();
    await s.close();
  };
});
test.after.each(async ({ close }) => void (await close()));

const route = "/webhooks/a";

test("raw bytes are verified as sent, whole or in chunks, spaced as they are", async ({ s, ports }) => {
  let n = 0;
  for (const [name, port] of Object.entries(ports)) {
    for (const chunked of [false, true]) {
      n += 1;
      const raw = Buffer.from(JSON.stringify(envelope({ task_id: `t-${n}`, message: "é \u{1F600}" }), null, 3));
      const answer = await post(port, await signed(s, null, { route, raw }), chunked);
      assert.equal([answer.status, answer.body], [200, '{"status":"accepted"}'], `${name} ${chunked}`);
      assert.match(answer.headers["content-type"]!, "application/json");
    }
  }
  await s.receiver.idle();
  assert.is(s.seen.length, 4);
});

test("fetch's requests, and an app that is mounted under a path, are answered alike", async ({ s }) => {
  const mounted = createServer((message, response) => {
    const { url = "" } = message;
    Object.assign(message, { originalUrl: url, url: url.replace("/webhooks", "") });
    void nodeListener(s.receiver)(message, response);
  });
  const port = await listen(mounted);
  const first = await signed(s, envelope({ task_id: "m" }), { route });
  assert.is((await post(port, first)).status, 200);
  mounted.closeAllConnections();
  mounted.close();

  const { headers, body } = await signed(s, envelope({ task_id: "f" }), { route });
  const init = { method: "POST", headers: headers as Record<string, string> };
  const url = PUBLIC_URL + route;
  const answer = await s.receiver.fetch(new Request(url, { ...init, body }));
  assert.equal([answer.status, await answer.json()], [200, { status: "accepted" }]);
  assert.is((await s.receiver.fetch(new Request(url, init))).status, 401, "no body is an empty one");
  assert.is((await s.receiver.fetch(new Request(`${PUBLIC_URL}/none`, { ...init, body }))).status, 404);
  const read = new Request(url, { ...init, body });
  await read.text();
  assert.is((await s.receiver.fetch(read)).status, 500, "told: give the raw body");
});

test("methods, media types and sizes are refused before anything is parsed", async ({ s, ports }) => {
  for (const port of Object.values(ports)) {
    const request = await signed(s, envelope(), { route });
    assert.is((await post(port, { ...request, method: "PUT" })).status, 405);
    const type = { "Content-Type": "application/x-www-form-urlencoded" };
    assert.is((await post(port, { ...request, headers: { ...request.headers, ...type } })).status, 415);
    const { "Content-Type": _, ...untyped } = request.headers as Record<string, string>;
    assert.is((await post(port, { ...request, headers: untyped })).status, 415);
    const broken = await post(port, { ...request, body: Buffer.from("{") });
    assert.is(broken.status, 401, "a body that is no JSON is judged by its digest first");
  }
});

test("a stream without end is cut off at the cap", async ({ ports }) => {
  for (const port of Object.values(ports)) {
    const status = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      let sent = 0;
      socket.write(
        `POST ${route} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
      );
      const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
      const more = () => {
        if (socket.destroyed || socket.writableEnded) return;
        sent += 0x10000;
        if (sent > 64 * 1024 * 1024) return reject(new Error("it took everything"));
        socket.write(chunk, () => setImmediate(more));
      };
      more();
      socket.on("data", (data) => {
        resolve(String(data).slice(9, 12));
        socket.destroy();
      });
      socket.on("error", () => undefined);
    });
    assert.is(status, "413");
  }
});

test("doubled header fields reach the verifier as they came", async ({ s, ports }) => {
  const { target, headers, body } = await signed(s, envelope(), { route });
  const fields = Object.entries(headers as Record<string, string>);
  const lines = [...fields, ["Signature", (headers as Record<string, string>).Signature!]].map(
    ([k, v]) => `${k}: ${v}`,
  );
  for (const port of Object.values(ports)) {
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      const head = [`POST ${target} HTTP/1.1`, ...lines, `content-length: ${body.length}`, "connection: close"];
      socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]));
      let text = "";
      socket.on("data", (data) => {
        text += data;
      });
      socket.on("close", () => resolve(text));
    });
    assert.match(answer, "401");
    assert.match(answer, "webhook_signature_header_malformed");
  }
});

test("a body that the app has read as text is the app's mistake, and nobody's request ends the process", async ({
  s,
}) => {
  const listener = nodeListener(s.receiver);
  const server = createServer((message, response) => void listener(message.setEncoding("utf8"), response));
  const port = await listen(server);
  const request = await signed(s, envelope(), { route });
  for (const chunked of [false, true]) {
    const answer = await post(port, request, chunked);
    assert.equal([answer.status, answer.body, answer.headers.connection], [500, '{"error":"body_not_raw"}', "close"]);
  }
  server.close();
});

test("a request that the app has answered meanwhile is kept, and its answer is left as it is", async ({ s }) => {
  const listener = nodeListener(s.receiver);
  let handled: Promise<void> | undefined;
  const server = createServer((message, response) => {
    // A deadline of the app's: it comes before the store is done.
    message.once("end", () => response.writeHead(503).end("late"));
    handled = listener(message, response);
  });
  const port = await listen(server);
  const event = envelope();
  const { status, body } = await post(port, await signed(s, event, { route }));
  assert.equal([status, body], [503, "late"]);
  await handled;
  assert.is((await send(s, event, { route })).body, '{"status":"duplicate"}');
  server.close();
});

test("the app's other routes keep their parser, and senders can read the limits", async ({ ports }) => {
  const port = ports.fastify!;
  const echo = await fetch(`http://127.0.0.1:${port}/echo`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"a":1}',
  });
  assert.equal(await echo.json(), { a: 1 });
  const limits = await fetch(`http://127.0.0.1:${port}/.well-known/webhook-receiver.json`);
  assert.equal(await limits.json(), { dedup_window_seconds: 86_400, max_body_bytes: 1_048_576 });
});

test("the plugin makes, starts and stops a receiver of its own", async ({ s }) => {
  const seen: string[] = [];
  const app = fastify();
  const options = webhookOptions({
    store: s.store,
    senders: { [SELLER]: { keys: keysOf(SELLER, s.key) } },
    release: release as Release<(typeof release)["tools"]>,
    handlers: { fallback: (delivery) => void seen.push(delivery.taskId!) },
    publicUrl: PUBLIC_URL,
    now: () => s.clock.ms,
    logger: pino({ enabled: false }),
    paths: ["/own/*"],
    descriptorPath: false,
  });
  await app.register(webhookReceiver, options);
  await app.ready();
  await app.webhookReceiver.expect({ route: "/own/a", sender: SELLER, kind: "task", operationId: "op-1" });
  const { headers, body } = await signed(s, envelope(), { route: "/own/a" });
  const answer = await app.inject({
    method: "POST",
    url: "/own/a",
    headers: headers as Record<string, string>,
    payload: Buffer.from(body),
  });
  assert.is(answer.statusCode, 200);
  assert.is((await app.inject("/.well-known/webhook-receiver.json")).statusCode, 404);
  await app.webhookReceiver.idle();
  assert.equal(seen, ["task-1"]);
  await app.close();
  assert.is(
    (await send({ ...s, receiver: app.webhookReceiver as never }, envelope({ task_id: "2" }), { route: "/own/a" }))
      .status,
    200,
  );
  assert.equal(seen, ["task-1"], "closed with the app: kept, not handled");
});

test.run();
