/** The page of metrics: the instruments are made and moved once, and what a meter is told of them is written down. */
import type { Meter } from "@opentelemetry/api";
import { receiverMetrics } from "../../../runtime/receiver/metrics.js";
import { crawlMetrics } from "../../../runtime/registry/crawl/metrics.js";
import { createTelemetry } from "../../../runtime/registry/server/telemetry.js";
import { sellerMetrics } from "../../../runtime/seller/metrics.js";
import { senderMetrics } from "../../../runtime/sender/metrics.js";
import { type ReferencePage, referencePage, tableOf } from "./page.js";

interface Instrument {
  readonly name: string;
  readonly kind: string;
  readonly unit: string;
  readonly description: string;
  readonly labels: Set<string>;
}

type Observer = (result: { observe: (...values: unknown[]) => void }) => unknown;

/** A meter that keeps what it is told; `collect` asks the gauges. */
function recordingMeter() {
  const made: Instrument[] = [];
  const observers: (() => unknown)[] = [];
  const labelled = ({ labels }: Instrument, given: unknown): void => {
    if (typeof given === "object" && given !== null) for (const label of Object.keys(given)) labels.add(label);
  };
  const instrument =
    (kind: string) =>
    (name: string, options: { unit?: string; description?: string } = {}) => {
      const one = {
        name,
        kind,
        unit: options.unit ?? "",
        description: options.description ?? "",
        labels: new Set<string>(),
      };
      made.push(one);
      const told = (_value: number, labels?: object) => labelled(one, labels);
      const asked = (observe: Observer) =>
        observers.push(() => observe({ observe: (_value: unknown, labels: unknown) => labelled(one, labels) }));
      return { one, add: told, record: told, addCallback: asked, removeCallback: () => undefined };
    };
  const batch = (observe: Observer) =>
    observers.push(() =>
      observe({
        observe: (of: unknown, _value: unknown, labels: unknown) => labelled((of as { one: Instrument }).one, labels),
      }),
    );
  const meter = {
    createCounter: instrument("counter"),
    createHistogram: instrument("histogram"),
    createGauge: instrument("gauge"),
    createUpDownCounter: instrument("counter"),
    createObservableGauge: instrument("gauge"),
    addBatchObservableCallback: batch,
    removeBatchObservableCallback: () => undefined,
  };
  const collect = async (): Promise<Instrument[]> => {
    for (const observe of observers) await observe();
    return made;
  };
  return { meter: meter as unknown as Meter, collect };
}

async function ofReceivers(): Promise<Instrument[]> {
  const { meter, collect } = recordingMeter();
  const metrics = receiverMetrics(meter);
  metrics.accepted("task", false);
  metrics.duplicate();
  metrics.stale("older");
  metrics.refused("code");
  metrics.anomaly("type");
  metrics.lag(1);
  metrics.handled("completed", "task", 1);
  metrics.answered(200, 1);
  metrics.newKeyid();
  metrics.backlog(async () => ({ events: { pending: 1 }, oldestSeconds: 1 }));
  metrics.databases(() => [{ name: "a", reachable: true }]);
  return collect();
}

async function ofSenders(): Promise<Instrument[]> {
  const { meter, collect } = recordingMeter();
  const metrics = senderMetrics(meter);
  const handled = { outcome: { kind: "dead" } };
  const [job, report] = [
    { attempts: 0, startedAt: 1, createdAt: 0 },
    { handled, status: "failed", httpStatus: 500, responseMs: 1 },
  ];
  metrics.attempted(job as Parameters<typeof metrics.attempted>[0], report as Parameters<typeof metrics.attempted>[1]);
  metrics.ended("expired", 1);
  metrics.ended("refused", 1);
  metrics.observe(async () => ({
    ...{ ok: true, reachable: true, problems: [], oldestMs: 1, keepsSecrets: true },
    counts: { waiting: 1, dead: 0, expired: 0, refused: 0 },
    endpoints: { paused: 0, resting: 0, failing: 0 },
  }));
  return collect();
}

function ofSellers(): Promise<Instrument[]> {
  const { meter, collect } = recordingMeter();
  const metrics = sellerMetrics(meter);
  metrics.answered({ tool: "t", transport: "mcp", status: "failed", code: "c", replayed: true }, 1);
  metrics.leftOut({ tool: "t", release: "3.0" }, { "/a": 1 });
  return collect();
}

function ofCrawlers(): Promise<Instrument[]> {
  const { meter, collect } = recordingMeter();
  const metrics = crawlMetrics(meter);
  const result = { adagents: { outcome: "valid", method: "direct", bytes: 1 }, brand: { outcome: "absent" } };
  metrics.crawled(result as Parameters<typeof metrics.crawled>[0], 1);
  metrics.failed(true);
  metrics.requested("auto");
  metrics.refused("full" as Parameters<typeof metrics.refused>[0]);
  metrics.checkedHosted("verified");
  metrics.watch(async () => 1);
  return collect();
}

/** The server's own, as Prometheus is told of them. */
async function ofRegistries(): Promise<Instrument[]> {
  const telemetry = createTelemetry();
  telemetry.request({ route: "/", method: "GET", status: 200 }, 1);
  telemetry.limited("reads");
  telemetry.authentication("key");
  telemetry.crawlStarted();
  telemetry.partMissing("2/4", "gone");
  const text = await telemetry.read();
  await telemetry.stop();
  return [...text.matchAll(/^# HELP (\S+) (.*)\n(?:# UNIT \S+ (\S+)\n)?# TYPE \S+ (\S+)\n\S+?(?:\{([^}]*)\})? /gm)].map(
    ([, name = "", description = "", unit = "", kind = "", labels = ""]) => ({
      ...{ name, kind, unit, description },
      labels: new Set([...labels.matchAll(/(\w+)=/g)].map(([, label = ""]) => label).filter((label) => label !== "le")),
    }),
  );
}

const rowsOf = (instruments: readonly Instrument[]): string[] =>
  tableOf(
    ["metric", "kind", "unit", "labels", "what"],
    instruments.map(({ name, kind, unit, labels, description }) => [
      ...[`\`${name}\``, kind, unit],
      ...[[...labels].map((label) => `\`${label}\``).join(", "), description],
    ]),
  );

export async function metricReference(): Promise<ReferencePage> {
  return referencePage("metrics.md", "Metrics", [
    "Through OpenTelemetry's API: nothing is exported unless the application sets up an SDK or hands in a meter. Callers, principals, domains and",
    "endpoints are no labels, for they are too many. Gauges are read from the database, by each process: take one of them, not their sum. At `/metrics`",
    "Prometheus shows a dot as `_`, and counters with `_total`.",
    "",
    ...["## Receiver", "", ...rowsOf(await ofReceivers()), ""],
    ...["## Sender", "", ...rowsOf(await ofSenders()), ""],
    ...["## Seller", "", ...rowsOf(await ofSellers()), ""],
    ...["## Crawler", "", ...rowsOf(await ofCrawlers()), ""],
    ...["## Registry server", "", "As they stand at `/metrics`.", "", ...rowsOf(await ofRegistries()), ""],
  ]);
}
