/** Answers that come as streams of events, from servers that do not end them. */
import { test } from "uvu";
import * as assert from "uvu/assert";
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

test.run();
