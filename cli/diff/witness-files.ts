/** Witnesses as files that speak for themselves: each finding, a test that replays it, and the schemas that it is replayed on. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { DiffFinding } from "../../generator/diff/finding.js";
import type { DiffSide } from "../../generator/diff/side.js";
import { userPath } from "../output.js";

const REPLAY = "replay.mjs";

/** Runs with nothing of adbind's: what it shows anybody can look into. */
const replay = `// What the tests beside this share: the schemas of both releases, as a validator.
// Needs the packages ajv and ajv-formats.
import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import formats from "ajv-formats";

const opened = new Map();

function open(version) {
  const known = opened.get(version);
  if (known !== undefined) return known;
  const ajv = new Ajv({ strict: false, next: true, validateSchema: false, logger: false, code: { optimize: false } });
  formats.default?.(ajv) ?? formats(ajv);
  const schemas = JSON.parse(readFileSync(new URL(\`./schemas-\${version}.json\`, import.meta.url), "utf8"));
  for (const [path, schema] of Object.entries(schemas)) ajv.addSchema(schema, \`/\${path}\`);
  opened.set(version, ajv);
  return ajv;
}

/** Whether a release accepts a payload; where it has no schema for it, it does not. */
export const accepts = (version, schema, payload) =>
  schema !== undefined && open(version).getSchema(\`/\${schema}\`)(payload);

export const findingOf = (url) => JSON.parse(readFileSync(new URL(url.replace(/\\.test\\.mjs$/, ".json")), "utf8"));
`;

const testOf = ({ id, rule, tool, side }: DiffFinding): string => `// Replays finding ${id}: node --test
import assert from "node:assert/strict";
import { test } from "node:test";
import { accepts, findingOf } from "./${REPLAY}";

const finding = findingOf(import.meta.url);

for (const one of finding.witnesses.filter(({ kind }) => kind === "payload"))
  test(${JSON.stringify(`${rule} ${tool ?? ""} ${side}`)} + \` breaks \${one.pairing}\`, () => {
    assert.equal(accepts(one.accepts, one.schemas.accepting, one.payload), true);
    assert.equal(accepts(one.refuses, one.schemas.refusing, one.payload), false);
  });
`;

/** @returns how many findings have a witness that is a payload */
export function writeWitnesses(folder: string, findings: readonly DiffFinding[], sides: readonly DiffSide[]): number {
  const place = userPath(folder);
  mkdirSync(place, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(path.join(place, name), text);
  const shown = findings.filter(({ witnesses = [] }) => witnesses.some(({ kind }) => kind === "payload"));
  for (const one of shown) {
    write(`${one.id}.json`, `${JSON.stringify(one, null, 2)}\n`);
    // Two releases of one version have one name for their schemas: there is nothing to replay on.
    if (sides[0]!.model.version !== sides[1]!.model.version) write(`${one.id}.test.mjs`, testOf(one));
  }
  write(REPLAY, replay);
  for (const { model } of sides)
    write(
      `schemas-${model.version}.json`,
      `{${model.documents.map(({ path: file, validation }) => `${JSON.stringify(file)}:${validation}`).join(",\n")}}\n`,
    );
  return shown.length;
}
