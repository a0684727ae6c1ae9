/** What operators do to events and endpoints, what they are told, and how long what is over is kept; on every store. */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context as OtelContext, context as otel, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import * as assert from "uvu/assert";
import type { Sender } from "../../runtime/sender/index.js";
import { until } from "../support/until.js";
import { NOW } from "./fixture.js";
import {
  drained,
  HOOK,
  HOUR,
  holds,
  noneOut,
  push,
  reopened,
  type SenderCase,
  secret,
  start,
  suiteOf,
} from "./sender-suite.js";

const DAY = 24 * HOUR;
export const authentication = { schemes: ["HMAC-SHA256"], credentials: secret };

export const tell = async (sender: Sender, taskId: string, over: { url?: string; principal?: string } = {}) => {
  const { url = HOOK, principal = "buyer-1" } = over;
  await sender.tasks.register(start({ taskId, principal }), { push: { ...push, url, authentication } });
  await sender.tasks.update(taskId, { status: "working" });
};

/** Which events, and what is done to them. */
function eventCase(of: SenderCase): void {
  const test = suiteOf(of, "operations");
  test("events are found by endpoint, principal, task and time", async ({ sender, clock }) => {
    await tell(sender, "a");
    clock.at += HOUR;
    await tell(sender, "b", { principal: "other" });
    await tell(sender, "c", { url: "https://b_yer.example/h" });
    const found = async (filter: Parameters<Sender["outbox"]["list"]>[0]) =>
      (await sender.outbox.list(filter)).map(({ subject }) => subject);
    assert.equal(await found({ principal: "buyer-1" }), ["a", "c"]);
    assert.equal(await found({ principal: "buyer" }), []);
    assert.equal(await found({ task: "b" }), ["b"]);
    assert.equal(await found({ from: NOW + 1 }), ["b", "c"]);
    assert.equal(await found({ to: NOW + 1 }), ["a"]);
    assert.equal(await found({ origin: "https://buyer.example" }), ["a", "b"]);
    assert.equal(await found({ origin: "https://b%.example" }), []);
    const { endpoint } = (await sender.outbox.endpoints())[0]!;
    assert.equal(await found({ endpoint, state: "ready" }), ["c"]);
  });

  test("what waits for its next attempt is tried now, and an event is shown with its answers", async (context) => {
    const { sender, network } = context;
    let words = `no: <b>${secret}</b> ${"x ".repeat(400)}`;
    network.react = () => ({ status: words === "" ? 200 : 500, body: Buffer.from(words) });
    sender.start();
    await tell(sender, "a");
    await until(async () => (await sender.outbox.list())[0]!.attempts === 1);
    const { id } = (await sender.outbox.list())[0]!;
    const [first] = (await sender.outbox.show(id))!.history;
    assert.is(first!.answer!.cut, true);
    assert.match(first!.answer!.text, /^no: <b>\[redacted\]<\/b> x x/);
    assert.not("answer" in (await sender.activity({ principal: "buyer-1", subject: "a" }))[0]!);
    words = "";
    assert.ok(await sender.outbox.retry(id));
    await until(() => drained(sender));
    assert.not.ok(await sender.outbox.retry(id));
    assert.is(await sender.outbox.show(id), undefined);
  });

  test("an operator is told what is wrong with a receiver's certificate, and its principal is not", async (context) => {
    const { sender, network } = context;
    const detail = "buyer.example: CERT_HAS_EXPIRED";
    network.react = () => ({ ok: false, code: "tls_failed", retryable: true, detail });
    sender.start();
    await tell(sender, "a");
    await until(async () => (await sender.outbox.list())[0]!.attempts === 1);
    const [first] = (await sender.outbox.show((await sender.outbox.list())[0]!.id))!.history;
    assert.equal(first!.answer, { text: detail, cut: false });
    assert.not.match(JSON.stringify(await sender.activity({ principal: "buyer-1", subject: "a" })), "EXPIRED");
  });

  test.run();
}

/** What is over. */
function retentionCase(of: SenderCase): void {
  const test = suiteOf(of, "retention");
  test("dead letters, closed channels and activity are kept in bounds", async (context) => {
    const retention = { deadLetterDays: 20, deadLetters: 3, closedChannelDays: 20, activityRows: 5 };
    const { network, clock } = context;
    network.react = () => 503;
    await context.sender.channels.open({ mediaBuyId: "mb", principal: "p" }, { events: { url: HOOK } });
    await context.sender.channels.close("mb");
    await tell(context.sender, "oldest", { principal: "other" });
    for (let at = 0; at < 5; at++) await tell(context.sender, `t${at}`);
    const rows = async (table: string) => Number((await of.rows(`select count(*) as n from ${table}`))[0]!.n);
    context.sender.start();
    await until(async () => {
      await noneOut(context.sender);
      clock.at += HOUR;
      return (await context.sender.outbox.counts()).dead === 6;
    });
    assert.ok((await rows("adbind_activity")) > 5);
    assert.is(await rows("adbind_channels"), 2);
    const sender = await reopened(of, context, { retention });
    clock.at += DAY;
    sender.start();
    await until(async () => (await sender.outbox.counts()).dead === 3);
    // Who has many makes room, and nobody else.
    assert.equal(
      (await sender.outbox.list()).map(({ subject }) => subject),
      ["oldest", "t3", "t4"],
    );
    await until(async () => (await rows("adbind_activity")) <= 5);
    await sender.stop();
    clock.at += 20 * DAY;
    const later = await reopened(of, context, { retention });
    later.start();
    await until(async () => (await later.outbox.counts()).dead === 0 && (await rows("adbind_channels")) === 0);
    assert.equal(await later.outbox.list(), []);
    assert.is(await rows("adbind_job_bodies"), 0);
  });
  test.run();
}

/** What is over in time, and still needed. */
function neededCase(of: SenderCase): void {
  const test = suiteOf(of, "retention of what waits");
  test("what waits at an endpoint that an operator paused is sent when he resumes it, however long that took", async (context) => {
    const retention = { closedChannelDays: 20 };
    const { network, clock } = context;
    const { sender } = context;
    await sender.channels.open({ mediaBuyId: "mb", principal: "p" }, { events: { url: HOOK } });
    await sender.channels.impairment("mb", { notificationId: "i", eventType: "fraud", impairment: {} });
    await tell(sender, "late", { principal: "p" });
    await sender.channels.close("mb");
    // Nothing waits for this one: its rows show that upkeep was there.
    await sender.channels.open({ mediaBuyId: "other", principal: "p" }, { events: { url: HOOK } });
    await sender.channels.close("other");
    const waiting = (await sender.outbox.counts()).waiting;
    assert.ok(waiting >= 2);
    for (const { endpoint } of await sender.outbox.endpoints()) await sender.outbox.pause(endpoint);
    const rows = async (from: string) => Number((await of.rows(`select count(*) as n from ${from}`))[0]!.n);
    clock.at += 100 * DAY;
    const later = await reopened(of, context, { retention });
    later.start();
    await until(async () => (await rows("adbind_channels where resource = 'other'")) === 0);
    await until(async () => (await rows(`adbind_sent_tasks where expires <= ${clock.at}`)) === 0);
    assert.is((await later.outbox.counts()).waiting, waiting);
    for (const { endpoint } of await later.outbox.endpoints()) await later.outbox.resume(endpoint);
    await until(async () => (await later.outbox.counts()).waiting === 0);
    assert.equal(await later.outbox.list(), []);
    assert.is(network.sent.length, waiting);
  });
  test.run();
}

/** A context that follows what is awaited, as an SDK's does. */
function followContext(): void {
  const storage = new AsyncLocalStorage<OtelContext>();
  otel.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...given) => storage.run(active, () => work.call(self as never, ...given)),
    bind: (_active, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
}

/** What is told. */
function telemetryCase(of: SenderCase): void {
  const test = suiteOf(of, "telemetry");
  test("metrics are what is there: backlog, age, attempts by class, endpoints, and each end", async (context) => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    const provider = new MeterProvider({ readers: [reader] });
    const { network, clock } = context;
    network.react = ({ url }) => (url === HOOK ? 200 : 404);
    const sender = await reopened(of, context, { meter: provider.getMeter("test") });
    const gone = { url: "https://gone.example/h" };
    for (const taskId of ["a", "b"]) await tell(sender, taskId, gone);
    await tell(sender, "c");
    sender.start();
    await until(async () => (await sender.outbox.list()).every(({ attempts }) => attempts === 1));
    await until(async () => (await sender.outbox.counts()).waiting === 2);
    const [endpoint] = await sender.outbox.endpoints();
    await sender.outbox.pause(endpoint!.endpoint);
    clock.at += 60_000;
    const { reachable, counts, oldestMs, endpoints } = await sender.health();
    assert.equal([reachable, counts, oldestMs, endpoints.paused], [true, holds({ waiting: 2 }), 60_000, 1]);
    await reader.forceFlush();
    const metrics = exporter.getMetrics().at(-1)!.scopeMetrics[0]!.metrics;
    const values = (name: string) =>
      Object.fromEntries(
        metrics
          .find(({ descriptor }) => descriptor.name === `adbind.sender.${name}`)!
          .dataPoints.map(({ attributes, value }) => [Object.values(attributes).join(" "), value]),
      );
    assert.equal(values("backlog"), holds({ waiting: 2 }));
    assert.equal(values("oldest_age"), { "": 60 });
    assert.is(values("endpoints").paused, 1);
    // What was sent again is no older than that, and what waits beside it is.
    await of.corrupt("update adbind_jobs set state = 'dead' where id = 1", async () => undefined);
    assert.ok(await sender.outbox.replay(1));
    assert.is((await sender.health()).oldestMs, 60_000);
    assert.equal(values("attempts"), { "failed 4xx": 2, "success 2xx": 1 });
    assert.is((values("duration")["2xx"] as { count: number }).count, 1);
    await sender.stop();
    await provider.shutdown();
  });

  test.run();
}

/** What is traced. */
function traceCase(of: SenderCase): void {
  const test = suiteOf(of, "traces");
  test("an attempt is a span under the one its event was made in, and its receiver is told", async (context) => {
    followContext();
    const exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    const tracer = provider.getTracer("test");
    const { network } = context;
    network.react = () => (network.sent.length === 1 ? 500 : 200);
    const sender = await reopened(of, context, { tracer });
    await sender.tasks.register(start(), { push });
    const parent = tracer.startSpan("order approved");
    await otel.with(trace.setSpan(ROOT_CONTEXT, parent), () => sender.tasks.update("task-1", { status: "working" }));
    await sender.tasks.register(start({ taskId: "untraced" }), { push });
    await sender.tasks.update("untraced", { status: "working" });
    parent.end();
    sender.start();
    await until(() => network.sent.length === 2);
    await noneOut(sender);
    context.clock.at += 60_000;
    await until(() => drained(sender));
    const spans = exporter.getFinishedSpans().filter(({ name }) => name === "adbind.webhook.attempt");
    const { traceId, spanId } = parent.spanContext();
    const under = spans.filter((span) => span.spanContext().traceId === traceId);
    assert.equal(spans.length, 3);
    assert.ok(under.length >= 1 && under.every((span) => span.parentSpanContext?.spanId === spanId));
    const told = network.sent.map(({ headers }) => headers.traceparent).sort();
    const made = spans.map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`).sort();
    assert.equal(told, made);
    otel.disable();
  });
  test.run();
}

export function operationCase(of: SenderCase): void {
  for (const cases of [eventCase, retentionCase, neededCase, telemetryCase, traceCase]) cases(of);
}
