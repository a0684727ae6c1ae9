/**
 * `./run conformance python`: the official Python SDK's own server with the smallest handlers that sell, before the published
 * storyboards of 3.1.19. Every failure is looked at once: test/conformance/python-failures.json says whose fault it is. Fails on
 * one that is not on the list, and on one of the list that is gone.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { willClose } from "../../cli/closing-line.js";
import { loadSuite, runConformance, type StepResult } from "../../runtime/conformance/index.js";
import { preparePython, servedByPython } from "../interop/signing/python.js";
import { corpus } from "../support/corpus.js";
import { wholeRelease } from "../support/whole-release.js";
import { RUN_TOKEN } from "./served-seller.js";

const RELEASE = "3.1.19";

interface Known {
  readonly storyboard: string;
  readonly step: string;
  /** `handlers`: the smallest ones do not do it. `sdk`: its framework does. `suite`: the step contradicts the text. */
  readonly whose: "handlers" | "sdk" | "suite";
  readonly why: string;
}

const served = <T>(job: (url: string) => Promise<T>): Promise<T> =>
  servedByPython(path.join(import.meta.dirname, "python/seller.py"), [RUN_TOKEN, "demo-acme-outdoor-v1"], (url) =>
    job(`${url}/mcp`),
  );

const whyOf = ({ problem, checks }: StepResult): string => {
  const broken = checks.find(({ outcome, advisory }) => outcome === "failed" && advisory !== true);
  return (problem ?? `${broken?.check} ${broken?.pointer ?? ""}: ${broken?.note ?? broken?.description}`).slice(0, 240);
};

const close = willClose("steps");

async function main(): Promise<void> {
  const missing = preparePython();
  if (missing !== undefined) {
    console.error(`the Python SDK cannot be had: ${missing}`);
    return close({ passed: 0, failed: 1 });
  }
  const whole = await wholeRelease(RELEASE);
  const suite = await loadSuite(path.join(corpus, "compliance", RELEASE));
  const report = await served((url) => runConformance({ url, suite, ...whole, auth: RUN_TOKEN }));
  const list = JSON.parse(readFileSync(path.join(import.meta.dirname, "python-failures.json"), "utf8")) as Known[];
  const failing = report.storyboards.flatMap(({ steps }) => steps).filter(({ status }) => status === "failed");
  const totals = { passed: report.counts.passed, failed: 0, known: 0 };
  for (const step of failing) {
    const known = list.find((one) => one.storyboard === step.storyboard && one.step === step.step);
    totals[known === undefined ? "failed" : "known"] += 1;
    const label = known === undefined ? "FAILED" : `known, ${known.whose}`;
    console.log(`  ${label} ${step.storyboard}/${step.step}: ${whyOf(step)}`);
  }
  for (const { storyboard, step } of list) {
    if (failing.some((one) => one.storyboard === storyboard && one.step === step)) continue;
    totals.failed += 1;
    console.log(`  FAILED ${storyboard}/${step} is on the list and does not fail: take it off`);
  }
  close(totals);
}

await main();
