/**
 * The published releases judge the comparison: every payload of the corpus that the next release refuses is among the
 * findings, and every witness is one by ajv on the files as published. A cell is a pair of neighbours and a surface.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { loadSide } from "../../cli/diff/load.js";
import { diffReleases } from "../../generator/diff/diff.js";
import type { DiffReport, PayloadWitness } from "../../generator/diff/finding.js";
import type { DiffSide } from "../../generator/diff/side.js";
import type { Json } from "../../generator/model/shape.js";
import { cellsOf } from "../support/cells.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import { judgeCommand } from "../support/judges.js";
import { judgeOf, type SchemaJudge } from "../support/schema-judge.js";

/** Cells of one commit's run. */
const CELLS = 1;

const line = ["3.0.4", "3.0.26", "3.1.0-beta.0", "3.1.0", "3.1.19", "3.2.0-beta.0", "3.2.0-beta.4", "3.2.4"];
const surfaces = ["media-buy", "creative", "signals", "account", "governance", "protocol", "the rest"];
const there = new Set(publishedReleases().map((folder) => path.basename(folder)));
const cells = line.slice(1).flatMap((to, index) => surfaces.map((surface) => `${line[index]} ${to} ${surface}`));

const folderOf = (version: string): string => path.join(corpus, "releases", version);

const ofSurface = (side: DiffSide, surface: string): DiffSide => {
  const { tools } = side.model;
  const rest = surface === surfaces.at(-1);
  const kept = tools.filter(({ protocol }) => (rest ? !surfaces.includes(protocol) : protocol === surface));
  return { ...side, model: { ...side.model, tools: kept } };
};

interface Payload {
  readonly tool: string;
  readonly direction: string;
  readonly schema: string;
  readonly payload: Json;
}

/** Payloads published for one of the two. */
const payloadsOf = (...versions: string[]): Payload[] =>
  versions
    .map((version) => path.join(corpus, "payloads", `${version}.json`))
    .filter(existsSync)
    .flatMap((file) => JSON.parse(readFileSync(file, "utf8")) as Payload[]);

/** Schema of a payload's tool and direction in a release. */
function schemaIn({ model }: DiffSide, { tool, direction }: Payload): string | undefined {
  const found = model.tools.find(({ name }) => name === tool);
  return direction === "request" ? found?.request : direction === "response" ? found?.response : undefined;
}

/** What the next release refuses and no finding says. @returns how many it refuses, and those unsaid */
function unsaid(a: DiffSide, b: DiffSide, report: DiffReport, payloads: readonly Payload[]): [number, string[]] {
  const missing: string[] = [];
  let refused = 0;
  for (const one of payloads) {
    const [old, now] = [schemaIn(a, one), schemaIn(b, one)];
    if (old === undefined || now === undefined || a.judge(old, one.payload).length > 0) continue;
    const against = b.judge(now, one.payload);
    if (against.length === 0) continue;
    refused++;
    const request = one.direction === "request";
    const pairing = request ? "old-caller>new-seller" : "old-seller>new-caller";
    const side = request ? "request" : "answer";
    const said = report.findings.some(
      (finding) =>
        finding.tool === one.tool &&
        finding.side === side &&
        (finding.breaks.includes(pairing) || finding.undecided.includes(pairing)),
    );
    if (!said) missing.push(`${one.tool} ${side}: ${JSON.stringify(against[0])}`);
  }
  return [refused, missing];
}

function unconfirmed(report: DiffReport, judges: ReadonlyMap<string, SchemaJudge>): string[] {
  return report.findings.flatMap(({ id, rule, tool, witnesses = [] }) =>
    witnesses
      .filter((one): one is PayloadWitness => one.kind === "payload")
      .filter(({ accepts, refuses, schemas, payload }) => {
        const accepted = judges.get(accepts)!.accepts(schemas.accepting, payload);
        const refused = schemas.refusing === undefined || !judges.get(refuses)!.accepts(schemas.refusing, payload);
        return !accepted || !refused;
      })
      .map(({ pairing }) => `${id} ${rule} ${tool} ${pairing}`),
  );
}

for (const cell of cellsOf(judgeCommand("diff"), cells, CELLS)) {
  const [from = "", to = "", ...words] = cell.split(" ");
  test(cell, async () => {
    if (!there.has(from) || !there.has(to)) return;
    const surface = words.join(" ");
    const [a, b] = [
      ofSurface(await loadSide(folderOf(from)), surface),
      ofSurface(await loadSide(folderOf(to)), surface),
    ];
    const report = diffReleases(a, b);
    const [refused, missing] = unsaid(a, b, report, payloadsOf(from, to));
    assert.equal(missing, []);
    const judges = new Map([
      [from, await judgeOf(folderOf(from))],
      [to, await judgeOf(folderOf(to))],
    ]);
    assert.equal(unconfirmed(report, judges), []);
    const { broken, undecided, safe } = report.summary;
    console.log(
      `${cell}: ${broken} broken, ${undecided} undecided, ${safe} safe; ${refused} payloads refused, all found`,
    );
  });
}

test.run();
