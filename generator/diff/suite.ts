/** The storyboards and vectors that came with two releases: which steps and cases are new, gone, or another. */
import { createHash } from "node:crypto";
import { isJsonObject } from "../../runtime/contract/index.js";
import type { Json } from "../model/shape.js";

/** One storyboard's step, or one vector. */
export interface SuiteItem {
  /** `specialisms/sales-guaranteed/index.yaml#setup/create`, or the path of a vector's file. */
  readonly at: string;
  /** The tool that it calls, where it names one. */
  readonly task?: string;
  readonly digest: string;
}

export interface DiffSuite {
  readonly steps: ReadonlyMap<string, SuiteItem>;
  readonly vectors: ReadonlyMap<string, SuiteItem>;
}

/** Words for a person, and what each release writes anew: no step differs by them. */
const prose = new Set([
  "narrative",
  "summary",
  "title",
  "description",
  "comment",
  "rationale",
  "version",
  "expected",
  "notes",
  "generated_at",
  "published_version",
]);

function bare(value: unknown): Json {
  if (Array.isArray(value)) return value.map(bare);
  if (!isJsonObject(value)) return (value ?? null) as Json;
  const kept = Object.entries(value).filter(([key]) => !prose.has(key) && !key.startsWith("$"));
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, held]) => [key, bare(held)]));
}

const digestOf = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(bare(value)))
    .digest("hex");

const wordOf = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise);

/** Steps of a storyboard document: those of its phases, by the ids that the release gives them. */
function stepsIn(path: string, document: unknown): SuiteItem[] {
  if (!isJsonObject(document) || !Array.isArray(document.phases)) return [];
  return document.phases.filter(isJsonObject).flatMap((phase, index) => {
    const steps = Array.isArray(phase.steps) ? phase.steps.filter(isJsonObject) : [];
    return steps.map((step, turn): SuiteItem => {
      const at = `${path}#${wordOf(phase.id, String(index))}/${wordOf(step.id, String(turn))}`;
      return { at, digest: digestOf(step), ...(typeof step.task === "string" && { task: step.task }) };
    });
  });
}

const byPlace = (items: readonly SuiteItem[]): Map<string, SuiteItem> => new Map(items.map((one) => [one.at, one]));

/**
 * @param documents of the suite by path, `/` separated: storyboards (.yaml) and vectors (.json), parsed
 */
export function suiteOf(documents: ReadonlyMap<string, unknown>): DiffSuite {
  const storyboards = [...documents].filter(([path]) => /\.ya?ml$/.test(path));
  const vectors = [...documents].filter(([path]) => path.startsWith("test-vectors/") && path.endsWith(".json"));
  return {
    steps: byPlace(storyboards.flatMap(([path, document]) => stepsIn(path, document))),
    vectors: byPlace(vectors.map(([at, document]) => ({ at, digest: digestOf(document) }))),
  };
}
