/** Statuses that a release's answers may have, and what is made of those that no release had before. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { checkNames } from "../../generator/emit/names.js";
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
    const { findings } = await lintRelease(writeRelease(files), checkNames);
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

test.run();
