/** docs/webhooks-out.md says what is so: events, metrics, commands, options, and what an outbox holds. */
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Meter, metrics } from "@opentelemetry/api";
import { Command } from "commander";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/outbox.js";
import { release as ours30 } from "../../generated/3.0.0/index.js";
import { release as ours31 } from "../../generated/3.1.0/index.js";
import { loadRelease } from "../../generator/load/load.js";
import { releaseFacts } from "../../generator/model/build.js";
import { eventCatalogue } from "../../runtime/facts/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { senderMetrics } from "../../runtime/sender/metrics.js";
import { retentionOf } from "../../runtime/sender/retention.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { publishedReleases } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";

const text = readFileSync(path.resolve(import.meta.dirname, "../../docs/webhooks-out.md"), "utf8");
const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();
const matches = (pattern: RegExp, within = text): string[] => [...within.matchAll(pattern)].map((found) => found[1]!);
const section = (title: string): string => new RegExp(`\\n## ${title}\\n([\\s\\S]*?)(?=\\n## |$)`).exec(text)![1]!;

test("every metric there is stands in the table, and no other", () => {
  const made: string[] = [];
  const noop = metrics.getMeter("none");
  const recording = new Proxy(noop, {
    get: (target, name) =>
      typeof name === "string" && name.startsWith("create")
        ? (metric: string) => {
            made.push(metric);
            return (target[name as keyof Meter] as (metric: string) => unknown).call(target, metric);
          }
        : target[name as keyof Meter],
  });
  senderMetrics(recording);
  assert.equal(sorted(matches(/^\| `(adbind\.sender\.\w+)`/gm)), sorted(made));
  assert.equal(sorted(matches(/`(adbind\.sender\.\w+)`/g)), sorted(made));
});

test("every command of the outbox is told, and none that is not there; so are the options that say which", () => {
  const command = new Command("outbox");
  register(command);
  const there = command.commands.map((one) => one.name());
  assert.equal(sorted(matches(/adbind outbox (\w+)/g)), sorted(there));
  for (const name of ["retry", "replay", "drop"]) {
    const flags = command.commands.find((one) => one.name() === name)!.options.map(({ long }) => long!);
    const told = matches(
      /(--(?:state|destination|endpoint|principal|task|from|to|yes|json))\b/g,
      section("Looking and changing"),
    );
    assert.equal(
      sorted(told).filter((flag) => !flags.includes(flag)),
      [],
    );
  }
});

const cells = (rows: string): string[][] =>
  rows
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").slice(1, -1));
const wordsIn = (cell: string): string[] => matches(/`([\w.-]+)`/g, cell);

const events = section("Events");
const [byChannel, byKind] = events.split(/^Release [\d.]+ has these:$/m) as [string, string];
const channels = cells(byChannel).map(([channel]) => wordsIn(channel!)[0]!);
const told = new Map(cells(byKind).flatMap(([kinds, own]) => wordsIn(kinds!).map((kind) => [kind, wordsIn(own!)])));

for (const { version, facts } of [ours30, ours31]) {
  test(`events: each of ${version} is told, with where it goes`, () => {
    for (const { kind, channels: own } of eventCatalogue({ facts }).events) {
      assert.ok(told.has(kind), kind);
      assert.equal(
        own.filter((channel) => !channels.includes(channel)),
        [],
      );
    }
  });
}

const named = matches(/^Release ([\d.]+) has these:$/gm, events)[0]!;
const folder = publishedReleases().find((one) => path.basename(one) === named);
if (folder !== undefined)
  test(`events: those of ${named} are told, and no other`, async () => {
    const facts = releaseFacts(await loadRelease(folder));
    const there = eventCatalogue({ facts }).events;
    assert.equal(
      Object.fromEntries(told),
      Object.fromEntries(there.map(({ kind, channels: own }) => [kind, [...own]])),
    );
    assert.equal(sorted(channels), sorted(there.flatMap(({ channels: own }) => own)));
    const invalidations = there.filter(({ invalidation }) => invalidation).map(({ kind }) => kind);
    assert.ok(invalidations.includes("principal.changed"), "it says that it is one");
    assert.not(
      invalidations.some((kind) => /^(product|signal)\./.test(kind)),
      "these carry what has changed",
    );
  });

test("every method that is named is there", async () => {
  const store = openSqliteStore({ path: path.join(tempFolder(), "methods.db") });
  const key = generateKeyPairSync("ed25519").privateKey;
  const sender = await createSender({ store, release: ours31, signer: { key, keyid: "k" } });
  const named = [...byChannel.matchAll(/`(tasks|channels|notifications)\.(\w+)`/g)];
  assert.ok(named.length >= 8);
  for (const [, part, method] of named) {
    const of = sender[part as "tasks"] as unknown as Record<string, unknown>;
    assert.type(of[method!], "function", `${part}.${method}`);
  }
  await sender.stop();
  await store.close();
});

test("retention has the options and the defaults that are told", () => {
  const rows = [...section("Retention").matchAll(/^\| `(\w+)` \| .* \| (no limit|[\d,]+)/gm)];
  const options = Object.fromEntries(rows.map(([, name, value]) => [name, value!.replaceAll(",", "")]));
  const held = Object.entries(retentionOf()).map(([name, value]) => [
    name,
    value === Number.MAX_SAFE_INTEGER ? "no limit" : String(value),
  ]);
  assert.equal(options, Object.fromEntries(held));
});

test.run();
