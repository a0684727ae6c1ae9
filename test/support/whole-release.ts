/**
 * A release of the corpus as a value. Reading one takes up to a second and a half of the processor, and a run has two dozen
 * files that want the same ones: the first leaves it for the others, in the folder that goes with the run.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { deserialize, serialize } from "node:v8";
import { type WholeRelease, wholeReleaseAt } from "../../cli/check/release-value.js";
import type { Release, SchemaDocuments } from "../../runtime/contract/index.js";
import { RUNNER } from "../runner/test-file.js";
import { corpus } from "./corpus.js";

interface Kept {
  readonly release: Omit<Release, "schemas">;
  readonly schemas: SchemaDocuments;
  readonly others: Omit<WholeRelease, "release">;
}

/** Of this run alone: a later one may have another generator. What test files start has the same folder. */
const folder = process.env[RUNNER] === undefined ? undefined : tmpdir();

function left(file: string): Kept | undefined {
  try {
    return deserialize(readFileSync(file)) as Kept;
  } catch {
    return undefined;
  }
}

async function read(at: string): Promise<WholeRelease> {
  const name = createHash("sha256").update(at).digest("hex");
  const file = folder === undefined ? undefined : path.join(folder, `whole-release-${name}`);
  const kept = file === undefined ? undefined : left(file);
  if (kept !== undefined) {
    const { release, schemas, others } = kept;
    return { release: { ...release, schemas: async () => schemas }, ...others };
  }
  const whole = await wholeReleaseAt(at);
  if (file !== undefined) {
    const { release, ...others } = whole;
    const { schemas, ...rest } = release;
    const half = `${file}.${process.pid}`;
    writeFileSync(half, serialize({ release: rest, schemas: await schemas(), others } satisfies Kept));
    renameSync(half, file);
  }
  return whole;
}

const known = new Map<string, Promise<WholeRelease>>();

/** @param at folder of a release, which no test changes */
export function wholeReleaseIn(at: string): Promise<WholeRelease> {
  const whole = known.get(at) ?? read(at);
  known.set(at, whole);
  return whole;
}

/** @param version of a release in the corpus, which is there */
export const wholeRelease = (version: string): Promise<WholeRelease> =>
  wholeReleaseIn(path.join(corpus, "releases", version));
