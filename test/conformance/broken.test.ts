/**
 * Ten agents, each wrong in one thing: the step that is about it fails, and no other does; a right one passes them all.
 * Of these a run takes a few.
 */
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { WholeRelease } from "../../cli/check/release-value.js";
import { loadSuite, runConformance, type Suite } from "../../runtime/conformance/index.js";
import { cellsOf } from "../support/cells.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import { judgeCommand } from "../support/judges.js";
import { wholeRelease } from "../support/whole-release.js";
import { type AgentFault, faults, serveSoundAgent } from "./sound-agent.js";

interface Judged {
  readonly release: string;
  readonly storyboard: string;
  /** Steps that fail: the one that is about the fault. */
  readonly steps: readonly string[];
}

const OLD = "3.0.26";
const isolation = { release: "3.2.0-beta.4", storyboard: "wholesale_feed_products_scope_isolation" };
const of = (storyboard: string, ...steps: string[]): Judged => ({ release: OLD, storyboard, steps });

const caught: Readonly<Record<AgentFault, Judged>> = {
  "wrong code": of("idempotency", "create_media_buy_conflict"),
  "leaked payload": of("idempotency", "create_media_buy_conflict"),
  "doubled webhook": of("webhook_emission", "expect_no_duplicate_webhook_on_replay"),
  "stale cursor": of("pagination_integrity", "terminal_page"),
  "second booking": of("idempotency", "create_media_buy_replay"),
  "schema drift": of("pagination_integrity", "first_page"),
  "replay that answers anew": of("idempotency", "create_media_buy_replay"),
  "another tenant's data": { ...isolation, steps: ["cross_scope_probe_not_unchanged"] },
  "unsigned webhook": of("webhook_emission", "expect_signature_valid"),
  "capability that is not there": of("signed_requests", "negative-001-no-signature-header"),
};

const opened = new Map<string, Promise<WholeRelease & { suite: Suite }>>();

/** Release and suite, read once. */
function place(version: string): Promise<WholeRelease & { suite: Suite }> {
  const known = opened.get(version);
  if (known !== undefined) return known;
  const made = (async () => ({
    ...(await wholeRelease(version)),
    suite: await loadSuite(path.join(corpus, "compliance", version)),
  }))();
  opened.set(version, made);
  return made;
}

interface Found {
  readonly failed: readonly string[];
  readonly passed: number;
}

/** Runs one storyboard before one agent. */
async function run(
  { release: version, storyboard }: Omit<Judged, "steps">,
  fault?: AgentFault,
  verifies = false,
): Promise<Found> {
  const { release, documents, suite } = await place(version);
  const { keys } = JSON.parse(suite.files.get("test-vectors/request-signing/keys.json")!);
  const agent = await serveSoundAgent(fault, verifies ? keys : undefined);
  let waited = 0;
  try {
    const report = await runConformance({
      url: agent.url,
      release,
      documents,
      suite,
      storyboards: [storyboard],
      now: () => Date.now() + waited,
      // Waits cost little: what is waited for is on its way.
      sleep: async (ms) => {
        waited += ms;
        await sleep(5);
      },
    });
    const steps = report.storyboards.flatMap((one) => one.steps);
    return {
      failed: steps.filter(({ status }) => status === "failed").map(({ step }) => step),
      passed: report.counts.passed,
    };
  } finally {
    await agent.close();
  }
}

const known = publishedReleases().length === 0 ? [] : faults;
for (const fault of cellsOf(judgeCommand("conformance"), known, 3)) {
  const judged = caught[fault];
  test(`${fault} is caught at ${judged.steps.join(", ")}, where a right agent passes`, async () => {
    const right = await run(judged, undefined, fault === "capability that is not there");
    assert.equal(right.failed, []);
    assert.ok(right.passed > 0);
    const { failed } = await run(judged, fault);
    // An agent that verifies nothing takes every bad signature.
    if (fault === "capability that is not there")
      assert.ok(failed.includes(judged.steps[0]!) && failed.every((step) => step.startsWith("negative-")));
    else assert.equal(failed, judged.steps);
  });
}

test.run();
