/** Spans leave by OTLP, under the caller's trace. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { startTracing } from "../../runtime/registry/server/tracing.js";
import { setupRegistry } from "./server-fixture.js";

test("a request is a span under its caller's, named by its route", async () => {
  const received: { path: string; body: string }[] = [];
  const collector = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ path: request.url!, body: Buffer.concat(chunks).toString("utf8") });
    response.setHeader("content-type", "application/json").end("{}");
  });
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  const tracing = startTracing(`http://127.0.0.1:${(collector.address() as AddressInfo).port}/`);
  const setup = await setupRegistry({ tracer: tracing.tracer });
  const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
  await setup.registry.app.inject({
    url: "/api/registry/publisher?domain=news.example",
    headers: { traceparent: `00-${traceId}-${spanId}-01` },
  });
  await setup.close();
  await tracing.stop();
  collector.closeAllConnections();
  collector.close();
  assert.equal([...new Set(received.map(({ path }) => path))], ["/v1/traces"]);
  const { resourceSpans } = JSON.parse(received[0]!.body);
  const span = resourceSpans[0].scopeSpans[0].spans[0];
  assert.equal([span.name, span.traceId, span.parentSpanId], ["GET /api/registry/publisher", traceId, spanId]);
  const attributes = span.attributes.map(({ key, value }: { key: string; value: object }) => [
    key,
    Object.values(value)[0],
  ]);
  assert.is(Object.fromEntries(attributes)["http.response.status_code"], 200);
  assert.not(received[0]!.body.includes("news.example"), "what was asked for stays here");
});

test("an endpoint that is no URL is refused", () => {
  assert.throws(
    () => startTracing("collector:4318 "),
    (error: unknown) => error instanceof AdbindError,
  );
});

test.run();
