/** `adbind explain`: a code, a tool, a field, a specialism and a finding, from the release alone. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as registerDiff } from "../../cli/diff.js";
import type { Explained } from "../../cli/explain/subjects.js";
import { register } from "../../cli/explain.js";
import type { DiffReport } from "../../generator/diff/finding.js";
import { runCommand } from "../cli/run-command.js";
import { changedRelease, smallRelease, writeRelease } from "../support/release.js";

const release = writeRelease(smallRelease());

async function explained(...argv: string[]): Promise<Explained> {
  const { out } = await runCommand(register, [...argv, "--json"]);
  return JSON.parse(out) as Explained;
}

test("a code: its recovery, who acts, and an error as it travels", async () => {
  const found = await explained("BUSY", "--release", release);
  assert.is(found.kind, "code");
  if (found.kind !== "code") return;
  assert.is(found.recovery, "transient");
  assert.match(found.acts, /the same again/);
  assert.equal(found.sample, { code: "BUSY", message: "Too much to do.", recovery: "transient", suggestion: "Wait." });
});

test("a tool: what its request demands, its arms, that it is deprecated", async () => {
  const found = await explained("place_order", "--release", release);
  assert.is(found.kind, "tool");
  if (found.kind !== "tool") return;
  assert.equal(found.request.required, ["idempotency_key", "lines"]);
  assert.ok(found.arms.some(({ status }) => status === "working"));
  assert.match((await runCommand(register, ["list_orders", "--release", release])).out, /deprecated in 1\.2\.0/);
});

test("a field of a tool: each place, what it holds, whether it is demanded", async () => {
  const found = await explained("place_order.product_id", "--release", release);
  assert.is(found.kind, "field");
  if (found.kind !== "field") return;
  assert.equal(found.places.map(({ side, at, required, holds }) => [side, at, required, holds])[0], [
    "request",
    "/lines/-/product_id",
    true,
    "string",
  ]);
});

test("a specialism is found in kebab or snake case", async () => {
  const found = await explained("selling", "--release", release);
  assert.is(found.kind === "specialism" ? found.entryPoints.join() : found.kind, "place_order");
});

test("a finding is told with its witness and what to do; without the older release it is asked for", async () => {
  const newer = changedRelease((files) => {
    files["manifest.json"].proto_version = "1.3.0";
    files["media-buy/list-orders-request.json"].required = ["unheard"];
  });
  const report = JSON.parse((await runCommand(registerDiff, [release, newer, "--json"])).out) as DiffReport;
  process.exitCode = undefined;
  const { id } = report.findings.find(({ verdict }) => verdict === "broken")!;
  const found = await explained(id, "--release", newer, "--since", release);
  assert.is(found.kind === "finding" ? found.finding.id : found.kind, id);
  assert.is((await runCommand(register, [id, "--release", newer])).code, 2);
  process.exitCode = undefined;
});

test("what the release does not have is a wrong command line", async () => {
  const { code } = await runCommand(register, ["NOPE", "--release", release]);
  assert.is(code, 2);
  process.exitCode = undefined;
});

test.run();
