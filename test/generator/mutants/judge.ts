/** What a release's own schemas say of a value, by ajv alone, and what the generated validators say of it. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { Release, Tools } from "../../../runtime/contract/index.js";
import { type AnyValidator, createValidator } from "../../../runtime/validate/index.js";
import { type Any, manifestOf, schemaFiles } from "../../support/mutate-release.js";
import { type Files, tempFolder } from "../../support/release.js";

const root = path.resolve(import.meta.dirname, "../../..");

/** A folder in which `adbind/...` resolves to this repository. */
export function packageFolder(): string {
  const folder = tempFolder();
  mkdirSync(path.join(folder, "node_modules"));
  writeFileSync(path.join(folder, "package.json"), '{"type": "module", "private": true}');
  symlinkSync(root, path.join(folder, "node_modules/adbind"), "dir");
  return folder;
}

export type Judge = (file: string, value: unknown) => boolean;

/** ajv over the files as they are: draft-07, formats, nothing of ours. */
function plainJudge(files: Files): Judge {
  // allErrors: left to stop at the first, ajv leaves off after the places of a list that is shorter than they are.
  const options = { strict: false, validateSchema: false, logger: false, allErrors: true } as const;
  const ajv = new Ajv({ ...options, code: { optimize: false } });
  formats.default(ajv);
  const known = new Set<string>();
  const keyOf = (file: string): string => {
    const id = (files[file] as Any)?.$id;
    return typeof id === "string" ? id : `https://plain.invalid/${file}`;
  };
  for (const file of schemaFiles(files)) {
    if (known.has(keyOf(file))) continue;
    known.add(keyOf(file));
    ajv.addSchema(files[file] as Any, keyOf(file));
  }
  return (file, value) => {
    const validate = ajv.getSchema(keyOf(file)) as ValidateFunction;
    return validate(value) as boolean;
  };
}

export interface Generated {
  release: Release<Tools>;
  /** The precompiled validator, where one was asked for. */
  standalone: AnyValidator | undefined;
}

/** Imports what was generated. */
export async function importGenerated(folder: string, standalone: boolean): Promise<Generated> {
  const load = (file: string): Promise<Any> => import(pathToFileURL(path.join(folder, file)).href);
  return {
    release: (await load("index.ts")).release,
    standalone: standalone ? (await load("validators/index.ts")).validator : undefined,
  };
}

export interface Place {
  tool: string;
  /** `request`, or the status of an arm. */
  part: string;
  file: string;
}

/** Every schema file that judges something of a tool, once a tool. */
export function placesOf(files: Files): Place[] {
  return Object.entries<Any>(manifestOf(files).tools).flatMap(([tool, entry]) => [
    { tool, part: "request", file: entry.request_schema },
    { tool, part: "completed", file: entry.response_schema },
    ...entry.async_response_schemas.map((file: string) => ({
      tool,
      part: /(submitted|working|input-required)\.json$/.exec(file)![1]!,
      file,
    })),
  ]);
}

export interface Disagreement {
  place: Place;
  by: "validate" | "standalone";
  value: unknown;
  plain: boolean;
}

/** Values on which generated validators and plain ajv differ. */
export async function disagreements(
  files: Files,
  { release, standalone }: Generated,
  values: readonly { place: Place; value: unknown }[],
): Promise<{ found: Disagreement[]; accepted: number; refused: number }> {
  const judge = plainJudge(files);
  const validator = await createValidator(release);
  const found: Disagreement[] = [];
  let accepted = 0;
  for (const { place, value } of values) {
    const { tool, part } = place;
    const plain = judge(place.file, value);
    accepted += plain ? 1 : 0;
    const judged = (by: AnyValidator): boolean =>
      (part === "request" ? by.request(tool, value) : by.arm(tool, part as never, value)).ok;
    if (judged(validator) !== plain) found.push({ place, by: "validate", value, plain });
    if (standalone !== undefined && judged(standalone) !== plain) {
      found.push({ place, by: "standalone", value, plain });
    }
  }
  return { found, accepted, refused: values.length - accepted };
}
