/** Faults of published suites are known again by what is published, whatever number the suite has. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release as old } from "../../generated/3.0.0/index.js";
import { applyFaults, faultsOf, isDone } from "../../runtime/conformance/faulty.js";
import { faultySteps } from "../../runtime/conformance/faulty-steps.js";
import type { StepResult, StoryboardResult } from "../../runtime/conformance/index.js";
import { loadSuite } from "../../runtime/conformance/load.js";
import { corpus } from "../support/corpus.js";
import { runSmall } from "./small-agent.js";

const result = (storyboard: string, step: string, hash: string, status: StepResult["status"]): StepResult => ({
  ...{ storyboard, phase: "p", step, title: step, task: "get_products", status, checks: [], required: "", hash },
  tookMs: 1,
});

/** How the steps of a storyboard count in the suite of a release. */
function counted(release: string, ...steps: readonly StepResult[]): (readonly [string, string])[] {
  const { storyboard: id } = steps[0]!;
  const of: StoryboardResult = { id, title: id, file: "f.yaml", verdict: "failed", steps };
  const { verdict, steps: judged } = applyFaults(of, faultsOf(release));
  return judged.map(({ status }) => [status, verdict] as const);
}

const [storyboard, step] = ["pagination_integrity_creative_formats", "terminal_page"] as const;
const { hash } = faultySteps.find((one) => one.storyboard === storyboard && one.step === step)!;

test("a step that is as it was published when its fault was found is faulty in the other suites of its line", () => {
  for (const release of ["3.0.6", "3.0.18", "3.0.26"])
    assert.equal(counted(release, result(storyboard, step, hash, "failed")), [["faulty", "passed"]], release);
  const mended = result(storyboard, step, "000000000000", "failed");
  assert.equal(counted("3.0.18", mended), [["failed", "failed"]]);
  assert.equal(counted("3.1.0", result(storyboard, step, hash, "failed")), [["failed", "failed"]]);
});

test("who keeps a step at fault has passed it, and who keeps the list is told where the entry was made for that suite", () => {
  const fault = faultySteps.find((one) => one.release === "3.0.26" && one.sometimes === undefined)!;
  const passed = result(fault.storyboard, fault.step, fault.hash, "passed");
  const told = ["3.0.26", "3.0.18"].map((release) => {
    const of = { ...{ id: fault.storyboard, title: "t", file: "f.yaml" }, verdict: "passed" as const, steps: [passed] };
    const { verdict, steps } = applyFaults(of, faultsOf(release));
    return [verdict, steps[0]!.status, steps[0]!.fault];
  });
  assert.equal(told, [
    ["passed", "passed", fault.contradicts],
    ["passed", "passed", undefined],
  ]);
});

test("a denial in the arm of a rejection is no failure where an old suite asks for an error", () => {
  const denied = ["brand_rights/governance_denied", "acquire_rights_denied", "91310c4ce6ff"] as const;
  assert.equal(counted("3.0.18", result(...denied, "failed")), [["faulty", "passed"]]);
});

test("a step of which one check is at fault fails by its others: a webhook sent twice is no webhook that never came", () => {
  const broken = (step: string, ...checks: string[]): StepResult => {
    const fault = faultySteps.find((one) => one.release === "3.0.6" && one.step === step)!;
    const failed = checks.map((check) => ({ check, outcome: "failed" }) as const);
    return { ...result(fault.storyboard, step, fault.hash, "failed"), checks: failed };
  };
  const told = (step: string, ...checks: string[]) => counted("3.0.4", broken(step, ...checks))[0];
  assert.equal(told("no_duplicate_webhooks_on_replay", "webhook_received"), ["faulty", "passed"]);
  assert.equal(told("no_duplicate_webhooks_on_replay", "webhook_deliveries"), ["failed", "failed"]);
  assert.equal(told("get_brand_identity_unknown", "error_code"), ["faulty", "passed"]);
  assert.equal(told("get_brand_identity_unknown", "error_code", "response_schema"), ["failed", "failed"]);
  const taken = {
    ...broken("get_brand_identity_unknown", "error_code"),
    problem: "the agent answered as if it knew it",
  };
  assert.equal(counted("3.0.4", taken), [["failed", "failed"]]);
});

test("what others build on is done where only the check at fault is broken", () => {
  const fault = faultySteps.find((one) => one.release === "3.1.19" && one.pointer !== undefined)!;
  const check = { check: "field_value", outcome: "failed", pointer: fault.pointer! } as const;
  const broken = { ...result(fault.storyboard, fault.step, fault.hash, "failed"), checks: [check] };
  assert.equal(
    ["3.1.19", "3.1.15", "3.0.26"].map((release) => isDone(broken, faultsOf(release))),
    [true, true, false],
  );
  const named = faultySteps.find((one) => one.check !== undefined)!;
  const failed = { check: named.check!, outcome: "failed" } as const;
  const ended = { ...result(named.storyboard, named.step, named.hash, "failed"), checks: [failed] };
  assert.ok(isDone(ended, faultsOf("3.0.6")));
  const besides = { ...ended, checks: [failed, { check: "response_schema", outcome: "failed" } as const] };
  assert.not.ok(isDone(besides, faultsOf("3.0.6")));
});

test("a step that needs what a step at fault takes from where there is nothing is left out", async () => {
  const bundle = path.join(corpus, "bundles/3.0.4.tgz");
  if (!existsSync(bundle)) return void console.log(`skipped: no ${bundle}; set ADBIND_CORPUS`);
  const suite = await loadSuite(bundle);
  const both = ["create_media_buy", "get_media_buys_active"];
  const storyboards = suite.storyboards
    .filter(({ id }) => id === "sales_guaranteed")
    .map(({ prerequisites: _, ...one }) => ({
      ...one,
      phases: one.phases.filter(({ steps }) => steps.some(({ id }) => both.includes(id))),
    }));
  const { steps } = await runSmall(
    { ...suite, index: undefined, storyboards },
    {
      create_media_buy: ({ context }) => ({ status: "submitted", task_id: "task-1", context }),
      get_media_buys: () => ({ media_buys: [] }),
    },
    { release: old },
  );
  assert.is(steps.get("create_media_buy")?.status, "faulty");
  const { status, skip } = steps.get("get_media_buys_active")!;
  assert.equal([status, skip?.reason], ["skipped", "prerequisite_failed"]);
  assert.match(skip!.detail, "create_media_buy takes it from where its own text has none");
});

test.run();
