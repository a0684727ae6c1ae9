/** docs/webhooks-out.md says what is so: metrics, commands, options, and what an outbox holds. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Meter, metrics } from "@opentelemetry/api";
import { Command } from "commander";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/outbox.js";
import { senderMetrics } from "../../runtime/sender/metrics.js";
import { retentionOf } from "../../runtime/sender/retention.js";

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

test("retention has the options and the defaults that are told", () => {
  const rows = [...section("Retention").matchAll(/^\| `(\w+)` \| .* \| (no limit|[\d,]+)/gm)];
  const told = Object.fromEntries(rows.map(([, name, value]) => [name, value!.replaceAll(",", "")]));
  const held = Object.entries(retentionOf()).map(([name, value]) => [
    name,
    value === Number.MAX_SAFE_INTEGER ? "no limit" : String(value),
  ]);
  assert.equal(told, Object.fromEntries(held));
});

test.run();
