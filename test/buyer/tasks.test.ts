/** Tasks between our buyer and our seller: what they ask, and the trace that they stand in. */
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../runtime/contract/index.js";
import { keepContext } from "../support/async-context.js";
import { until } from "../support/until.js";
import { BUYER, buyOf, withBoth } from "./both.js";

const budgeted = (budget: number): JsonObject => ({
  packages: [{ product_id: "prod_asked", pricing_option_id: "po_cpm_fixed", budget }],
});

for (const [name, transport, more] of [
  ["mcp", "mcp", {}],
  ["a2a", "a2a", {}],
  ["a2a, by the protocol's extension", "a2a", { a2aProfile: { uri: "https://protocol.example/extensions/proto/v3" } }],
] as const) {
  test(`${name}: what a task asks is answered, and it is the same task until it has ended`, () =>
    withBoth(more, async (made) => {
      const buyer = made.buyer(transport);
      const called = await buyer.tools.create_media_buy(buyOf("prod_asked"));
      assert.is(called.answer.status, "input-required", JSON.stringify(called.answer));
      const { taskId } = called.answer;
      const asked = await called.waitForCompletion();
      assert.equal([asked.status, asked.taskId], ["input-required", taskId]);
      const wrong = await called.respond(budgeted(50));
      assert.equal([wrong.answer.status, wrong.recovery], ["failed", "correctable"], JSON.stringify(wrong.answer));
      const more = await called.respond(budgeted(21_000));
      assert.equal([more.answer.status, more.answer.taskId], ["input-required", taskId]);
      const done = await more.respond(budgeted(10_000));
      assert.is(done.answer.status, "completed", JSON.stringify(done.answer));
      assert.equal([made.bench.made.length, await made.seller.unfinished()], [1, []]);
      const again = await more.respond({ ...budgeted(10_000), idempotency_key: done.idempotencyKey as string });
      assert.equal([again.replayed, made.bench.made.length], [true, 1], JSON.stringify(again.answer));
      const { payload } = await made.seller.call({
        ...{ tool: "get_task_status", transport: "mcp" as const, identity: { principal: BUYER } },
        args: { task_id: taskId, include_result: true },
      });
      assert.equal([payload.status, (payload.result as JsonObject)?.media_buy_id], ["completed", made.bench.made[0]]);
      await until(() =>
        made.seen.some(({ taskId: id, operationId }) => id === taskId && operationId === called.operationId),
      );
      await buyer.close();
    }));
}

for (const transport of ["mcp", "a2a"] as const) {
  test(`${transport}: a call, its answer, its webhook and what handles it stand in one trace`, async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    const tracer = provider.getTracer("test");
    const forget = keepContext();
    try {
      await withBoth({ tracer }, async (made) => {
        const buyer = made.buyer(transport, { tracer });
        // Nobody polls: an end that a poll was first with leaves its webhook nothing to handle.
        const called = await buyer.tools.create_media_buy(buyOf("prod_later"));
        const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);
        const [call] = named("call an agent");
        const trace = call!.spanContext().traceId;
        const names = ["answer a call", "adbind.webhook.attempt", "receive webhook", "handle webhook"];
        const within = (name: string) => named(name).some((span) => span.spanContext().traceId === trace);
        await until(() => names.every(within)).catch(() => assert.equal(names.filter(within), names));
        const answered = named("answer a call").find(
          ({ attributes }) => attributes["adbind.tool"] === "create_media_buy",
        );
        assert.is(answered?.parentSpanContext?.spanId, call!.spanContext().spanId);
        assert.equal(
          [call!.attributes["adbind.status"], call!.attributes["adbind.task_id"]],
          ["submitted", called.answer.taskId],
        );
        await buyer.close();
      });
    } finally {
      forget();
    }
  });
}

test.run();
