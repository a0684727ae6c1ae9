/** Answers that come as streams of events, from servers that do not end them. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createGuardedFetch } from "../../runtime/net/index.js";
import { order, withScene } from "./fixtures.js";

const resultOf = (id: unknown, media_buy_id: string): string =>
  JSON.stringify({
    ...{ jsonrpc: "2.0", id },
    result: { content: [], structuredContent: { status: "completed", media_buy_id, packages: [] } },
  });
const progress = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: 1 } })}\n\n`;

test("an answer that a stream has brought is read at once, though the stream goes on", () =>
  withScene(
    {
      answer: ({ message }) => ({
        events: [
          ": hello\n\n",
          "id: 1\ndata: \n\n",
          progress,
          `data: ${resultOf(message.id, "mb-1")}\n\n`,
          ": ping\n\n",
        ],
      }),
      buyer: { timeoutMs: 60_000 },
    },
    async ({ buyer, calls }) => {
      const began = performance.now();
      for (let call = 0; call < 3; call++) {
        const { answer, attempts } = await buyer.tools.create_media_buy(order);
        assert.equal([answer.status, attempts], ["completed", 1]);
      }
      assert.is(calls().length, 3);
      assert.ok(performance.now() - began < 30_000, "nobody waits for the end of a stream");
    },
  ));

test("a stream that brings no answer ends with the time that an answer may take", () =>
  withScene(
    {
      answer: () => ({ events: [progress, `data: ${resultOf("another", "mb-9")}\n\n`] }),
      buyer: { timeoutMs: 500, retry: { attempts: 1 } },
    },
    async ({ buyer }) => {
      const { answer } = await buyer.tools.create_media_buy(order);
      assert.is(answer.status, "failed");
    },
  ));

const JSON_TYPE = { "content-type": "application/json" };
const EVENTS_TYPE = { "content-type": "text/event-stream" };

test("what an agent asks in its answer is answered by nothing: it has its caller send no more than was asked for", async () => {
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 77, method: "ping" });
  const pings = Array.from({ length: 200 }, () => ping);
  const ways = {
    events: (answer: string) => ({ events: [...pings, answer].map((one) => `data: ${one}\n\n`) }),
    array: (answer: string) => ({ http: 200, headers: JSON_TYPE, body: `[${[...pings, answer].join()}]` }),
    created: (answer: string) => ({
      ...{ http: 201, headers: EVENTS_TYPE },
      body: [...pings, answer].map((one) => `data: ${one}\n\n`).join(""),
    }),
    "created, as an array": (answer: string) => ({
      ...{ http: 203, headers: JSON_TYPE },
      body: `[${[...pings, answer].join()}]`,
    }),
  };
  for (const [way, says] of Object.entries(ways)) {
    const guarded = createGuardedFetch({ allowHttp: true, allowLoopback: true });
    const replies: string[] = [];
    const fetch: typeof guarded = Object.assign(
      (url: string, request: Parameters<typeof guarded>[1]) => {
        const sent = request?.body === undefined ? "" : new TextDecoder().decode(request.body as Uint8Array);
        if (request?.method === "POST" && JSON.parse(sent).method === undefined) replies.push(sent);
        return guarded(url, request);
      },
      { close: () => guarded.close() },
    );
    await withScene(
      { answer: ({ message }) => says(resultOf(message.id, "mb-1")), buyer: { fetch, timeoutMs: 60_000 } },
      async ({ buyer }) => {
        const { answer } = await buyer.tools.create_media_buy(order);
        assert.is(answer.status, "completed", way);
        assert.match(JSON.stringify(answer.data), "mb-1");
        assert.equal(replies, [], way);
      },
    );
    await guarded.close();
  }
});

test("an id that comes back as a text is the request's, as it is without a stream", () =>
  withScene(
    {
      answer: ({ message }) => ({
        http: 200,
        headers: EVENTS_TYPE,
        body: `data: ${resultOf(`${message.id}`, "mb-1")}\n\n`,
      }),
    },
    async ({ buyer }) => assert.is((await buyer.tools.create_media_buy(order)).answer.status, "completed"),
  ));

test("a stream that ends without an answer is told as that, and its whole time is not waited for", () =>
  withScene(
    {
      answer: () => ({ http: 200, headers: EVENTS_TYPE, body: "id: 1\nretry: 1\ndata:\n\n" }),
      buyer: { timeoutMs: 120_000, retry: { attempts: 1 } },
    },
    async ({ buyer }) => {
      const began = performance.now();
      const { answer } = await buyer.tools.create_media_buy(order);
      assert.ok(performance.now() - began < 60_000);
      assert.is(answer.status, "failed");
      assert.match(JSON.stringify(answer.data), "has none to the request among its messages");
    },
  ));

test("a request that comes in place of an answer is told as that, and its whole time is not waited for", () =>
  withScene(
    {
      answer: () => ({ http: 200, headers: JSON_TYPE, body: `{"jsonrpc":"2.0","id":77,"method":"ping"}` }),
      buyer: { timeoutMs: 120_000, retry: { attempts: 1 } },
    },
    async ({ buyer, calls }) => {
      const began = performance.now();
      const { answer } = await buyer.tools.create_media_buy(order);
      assert.ok(performance.now() - began < 60_000);
      assert.match(JSON.stringify(answer.data), "has none to the request");
      assert.is(calls().length, 1);
    },
  ));

test.run();
