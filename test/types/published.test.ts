/**
 * The published payloads are the judge of types: what a schema accepts is a literal of its type, what it refuses is
 * none, and what a tool answers is of the type of the arm that the runtime hands it to.
 *
 * A release is a cell: `./run test` takes one, `ADBIND_CELLS=all ./run test test/types/published.test.ts` all of them.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { pascalCase } from "../../generator/emit/names.js";
import { generate } from "../../generator/index.js";
import { type JsonObject, type Release, readAnswer } from "../../runtime/contract/index.js";
import { CHOICE, cellsOf } from "../support/cells.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import { type FaultKind, faulty, type Payload, withoutUndeclared } from "../support/faulty.js";
import { judgeLiterals, type LiteralFault, typeNames, unknownName } from "../support/literals.js";
import { numbers } from "../support/random.js";
import { tempFolder } from "../support/release.js";
import { judgeOf, type SchemaJudge } from "../support/schema-judge.js";

/** Faults judged of a release: in a whole run, and beside the other tests. */
const FAULTS = process.env[CHOICE] === "all" ? 1500 : 400;

/** Share of faults that types must refuse, conditions aside. */
const REFUSED = 0.96;

const root = path.resolve(import.meta.dirname, "../..");
const payloadsOf = (version: string): string => path.join(corpus, "payloads", `${version}.json`);

const versions = publishedReleases()
  .map((folder) => path.basename(folder))
  .filter((version) => existsSync(payloadsOf(version)));

/** A project whose `adbind` is this one. */
async function generated(version: string): Promise<string> {
  const folder = tempFolder();
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(root, path.join(folder, "node_modules/adbind"));
  writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
  const { ok } = await generate([path.join(corpus, "releases", version)], { out: path.join(folder, "bindings") });
  assert.is(ok, true);
  return path.join(folder, "bindings", version);
}

interface Judged {
  version: string;
  folder: string;
  release: Release;
  judge: SchemaJudge;
  /** Payloads, each with what is left of it without names that nothing declares. */
  payloads: (Payload & { type: string; declared: unknown; undeclared: (string | number)[][] })[];
}

async function prepare(version: string): Promise<Judged> {
  const folder = await generated(version);
  const { release } = (await import(path.join(folder, "index.ts"))) as { release: Release };
  const judge = await judgeOf(path.join(corpus, "releases", version));
  const names = typeNames(folder);
  const payloads = (JSON.parse(readFileSync(payloadsOf(version), "utf8")) as Payload[]).map((one) => {
    const { value, undeclared } = withoutUndeclared(judge, one.schema, one.payload);
    return { ...one, type: names.get(one.schema)!, declared: value, undeclared };
  });
  return { version, folder, release, judge, payloads };
}

const shown = (faults: readonly LiteralFault[]): string => faults.map(({ message }) => message).join("\n");

function judgePayloads({ version, folder, payloads }: Judged): void {
  const strange = payloads.filter(({ undeclared }) => undeclared.length > 0);
  const literals = [
    ...payloads.map(({ type, declared }) => ({ type, value: declared })),
    ...strange.map(({ type, payload }) => ({ type, value: payload })),
  ];
  const faults = judgeLiterals(folder, literals);
  for (const [index, { tool, direction }] of payloads.entries())
    assert.equal(faults[index], [], `${tool} ${direction}: ${shown(faults[index]!)}`);
  const refused = faults.slice(payloads.length).filter((found) => found.length > 0);
  const byName = refused.filter((found) => found.every(({ code }) => unknownName.has(code)));
  const atRoot = strange.filter(({ undeclared }) => undeclared.some((at) => at.length === 1));
  console.log(
    `${version}: ${payloads.length} payloads, ${strange.length} with a name that nothing declares ` +
      `(${atRoot.length} at the root); ${refused.length} of those refused, ${byName.length} by that name`,
  );
  assert.is(refused.length, strange.length, "a name that nothing declares compiles");
}

function judgeFaults({ version, folder, judge, payloads }: Judged): void {
  const clean = payloads.map(({ declared, ...one }) => ({ ...one, payload: declared }));
  const made = faulty(judge, clean, { count: FAULTS, seed: 1 });
  const names = typeNames(folder);
  const faults = judgeLiterals(
    folder,
    made.map(({ schema, value }) => ({ type: names.get(schema)!, value })),
  );
  const tally = new Map<string, { refused: number; all: number }>();
  const count = (name: string, refused: boolean): void => {
    const row = tally.get(name) ?? { refused: 0, all: 0 };
    tally.set(name, { refused: row.refused + (refused ? 1 : 0), all: row.all + 1 });
  };
  const kindOf = (kind: FaultKind, conditional: boolean): string => (conditional ? "conditional" : kind);
  for (const [index, { kind, conditional }] of made.entries())
    count(kindOf(kind, conditional), faults[index]!.length > 0);
  const rows = [...tally].filter(([name]) => name !== "conditional").map(([, row]) => row);
  const refused = rows.reduce((sum, row) => sum + row.refused, 0);
  const all = rows.reduce((sum, row) => sum + row.all, 0);
  const told = [...tally].map(([name, row]) => `${name} ${row.refused}/${row.all}`).join(", ");
  console.log(`${version}: ${refused} of ${all} faults refused (${((100 * refused) / all).toFixed(1)} %): ${told}`);
  assert.ok(refused / all >= REFUSED, told);
  assert.ok(all > FAULTS / 2, "too few faults prove nothing");
}

/** Statuses whose arm carries data of the release. */
const carrying = ["submitted", "working", "input-required", "completed"];

function judgeArms({ version, folder, release, payloads }: Judged): void {
  const answers = payloads
    .filter(({ direction }) => direction === "response")
    .map(({ tool, declared }) => {
      const answer = readAnswer(release.tools[tool]!, declared as JsonObject, release.word) as { status: string };
      return { tool, declared, status: answer.status };
    });
  const typeOf = (tool: string, status: string): string => `${pascalCase(tool)}Arms[${JSON.stringify(status)}]`;
  const carried = answers.filter(({ status }) => carrying.includes(status));
  const failed = answers.filter(({ status }) => status === "failed");
  const others = answers.filter(({ status }) => status !== "completed");
  const faults = judgeLiterals(folder, [
    ...carried.map(({ tool, declared, status }) => ({ type: typeOf(tool, status), value: declared })),
    ...others.map(({ tool, declared }) => ({ type: typeOf(tool, "completed"), value: declared })),
  ]);
  for (const [index, { tool, status }] of carried.entries()) {
    // An interim arm's own schema says what it carries, and says less than the response that the payload is one of.
    const told = faults[index]!.filter(({ code }) => status === "completed" || !unknownName.has(code));
    assert.equal(told, [], `${tool} ${status}: ${shown(told)}`);
  }
  const taken = others.filter((_, index) => faults[carried.length + index]!.length === 0);
  assert.equal(
    taken.map(({ tool, status }) => `${tool} ${status}`),
    [],
    "an answer of another arm is taken for a completed one",
  );
  console.log(`${version}: ${carried.length} answers are of their arm, ${failed.length} failed`);
}

for (const version of cellsOf("ADBIND_CELLS=all ./run test test/types/published.test.ts", versions, 1)) {
  const prepared = prepare(version);
  test(`${version}: a payload is a literal of its type; names that nothing declares are refused, and nothing else`, async () =>
    judgePayloads(await prepared));
  test(`${version}: a payload with a fault that its schema refuses is no literal of its type`, async () =>
    judgeFaults(await prepared));
  test(`${version}: an answer is of the type of the arm that the runtime hands it to`, async () =>
    judgeArms(await prepared));
}

test("a fault is drawn again from the same seed, and differs with another", () => {
  const draw = (seed: number): number[] => Array.from({ length: 3 }, numbers(seed));
  assert.equal(draw(1), draw(1));
  assert.not.equal(draw(1), draw(2));
});

test.run();
