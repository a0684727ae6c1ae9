/**
 * A release of the corpus as a value. Reading one takes up to a second and a half of the processor, and a run has two dozen
 * files that want the same ones: the first leaves it for the others, in the folder that goes with the run.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { deserialize, serialize } from "node:v8";
import { type WholeRelease, wholeReleaseAt } from "../../cli/check/release-value.js";
import type { Release, SchemaDocuments } from "../../runtime/contract/index.js";
import { startedByRunner } from "../runner/test-file.js";
import { corpus } from "./corpus.js";

interface Kept {
  readonly release: Omit<Release, "schemas">;
  readonly schemas: SchemaDocuments;
  readonly others: Omit<WholeRelease, "release">;
}

/** Of this run alone: a later one may have another generator. */
const folder = startedByRunner() ? tmpdir() : undefined;

function left(file: string): Kept | undefined {
  try {
    return deserialize(readFileSync(file)) as Kept;
  } catch {
    return undefined;
  }
}

async function read(version: string): Promise<WholeRelease> {
  const file = folder === undefined ? undefined : path.join(folder, `whole-release-${version}`);
  const kept = file === undefined ? undefined : left(file);
  if (kept !== undefined) {
    const { release, schemas, others } = kept;
    return { release: { ...release, schemas: async () => schemas }, ...others };
  }
  const whole = await wholeReleaseAt(path.join(corpus, "releases", version));
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

/** @param version of a release in the corpus, which is there */
export function wholeRelease(version: string): Promise<WholeRelease> {
  const whole = known.get(version) ?? read(version);
  known.set(version, whole);
  return whole;
}
