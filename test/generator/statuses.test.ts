/** Statuses that a release's answers may have, and what is made of those that no release had before. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate, lintRelease } from "../../generator/index.js";
import { readAnswer } from "../../runtime/contract/index.js";
import { type Any, schemaAt } from "../support/mutate-release.js";
import { tempFolder, writeRelease } from "../support/release.js";
import { importGenerated } from "./mutants/judge.js";
import { accept, fresh } from "./mutants/workspace.js";

const changed = () => {
  const files = fresh();
  schemaAt(files, "enums/task-status.json").enum.push("on-hold");
  return files;
};

test("a task status that a release adds leaves the answers of every tool what they were", async () => {
  const [before, after] = [
    await importGenerated(await accept(fresh()), false),
    await importGenerated(await accept(changed()), false),
  ];
  const statuses = ({ tools }: Any): object =>
    Object.fromEntries(
      Object.entries<Any>(tools).map(([name, tool]) => [name, [tool.statuses, Object.keys(tool.arms)]]),
    );
  assert.equal(statuses(after.release), statuses(before.release));
  // Read as finished, a refusal would be taken for a purchase.
  const buy = after.release.tools.create_media_buy!;
  for (const status of ["rejected", "canceled", "failed", "working"])
    assert.is(readAnswer(buy, { status, task_id: "t1", message: "no" }, after.release.word).status, status);
});

test("a task status that no arm is for is told of, and of a vocabulary of its own nothing is said", async () => {
  const strange = async (files: ReturnType<typeof fresh>): Promise<string[]> => {
    const { findings } = await lintRelease(writeRelease(files));
    return findings.filter(({ rule }) => rule === "task-status").map(({ message }) => message);
  };
  assert.equal(await strange(fresh()), []);
  const told = await strange(changed());
  assert.ok(told.length > 0 && told.every((message) => message.includes('"on-hold"')));
  const own = fresh();
  schemaAt(own, "enums/media-buy-status.json").enum.push("on-hold");
  assert.equal(await strange(own), []);
});

test("generating from a release with such a status says so, and writes", async () => {
  const { releases } = await generate([writeRelease(changed())], { out: tempFolder() });
  const [{ outcome, findings } = {}] = releases;
  assert.is(outcome, "written");
  assert.ok(
    findings!.length > 0 && findings!.every(({ rule, level }) => rule === "task-status" && level === "warning"),
  );
});

test("a class of recovery that nobody knows yet is told of and read as terminal, where the release's own schema takes it", async () => {
  const later = (own: object | undefined) => {
    const files = fresh();
    const { error_codes: codes, error_code_policy: policy } = schemaAt(files, "manifest.json");
    codes.BUDGET_TOO_LOW.recovery = "negotiable";
    policy.default_unknown_recovery = "negotiable";
    return { ...files, "manifest.schema.json": own };
  };
  const opened = later({ type: "object" });
  const { releases } = await generate([writeRelease(opened)], { out: tempFolder() });
  const told = releases[0]!.findings.map(({ level, rule, pointer }) => [level, rule, pointer]);
  assert.equal(told, [
    ["warning", "recovery-class", "/error_code_policy/default_unknown_recovery"],
    ["warning", "recovery-class", "/error_codes/BUDGET_TOO_LOW/recovery"],
  ]);
  const { release } = await importGenerated(await accept(opened), false);
  assert.is(release.errors.BUDGET_TOO_LOW?.recovery, "terminal");
  assert.is(release.defaultUnknownRecovery, "terminal");
  const { findings } = await lintRelease(writeRelease(later(undefined)));
  assert.ok(findings.some(({ rule, level }) => rule === "manifest-schema" && level === "error"));
});

test("a code without a class of recovery is told of and has that of unlisted ones, where the release's own schema takes it", async () => {
  const later = (own: object | undefined) => {
    const files = fresh();
    const { error_codes: codes } = schemaAt(files, "manifest.json");
    codes.NEWER = { description: "d", suggestion: "s" };
    return { ...files, "manifest.schema.json": own };
  };
  const opened = later({ type: "object" });
  const { releases } = await generate([writeRelease(opened)], { out: tempFolder() });
  const [{ outcome, findings } = {}] = releases;
  const told = findings!.map(({ level, rule, pointer }) => [level, rule, pointer]);
  assert.equal([outcome, told], ["written", [["warning", "recovery-class", "/error_codes/NEWER/recovery"]]]);
  const { release } = await importGenerated(await accept(opened), false);
  assert.is(release.errors.NEWER?.recovery, release.defaultUnknownRecovery);
  const counts = Object.values(release.facts.recovery.errors.value as Record<string, number>);
  assert.is(
    counts.reduce((a, b) => a + b),
    Object.keys(release.errors).length,
    "it is counted, too",
  );
  const { findings: strict } = await lintRelease(writeRelease(later(undefined)));
  assert.ok(strict.some(({ rule, level }) => rule === "manifest-schema" && level === "error"));
});

test.run();
