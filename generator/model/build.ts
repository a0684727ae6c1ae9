/** Checked release -> IR. */
import { answerFields } from "../../runtime/contract/index.js";
import { exercising, isExempt } from "../lint/checks.js";
import { SchemaFacts } from "../load/facts.js";
import { checkedManifest, type LoadedRelease } from "../load/load.js";
import { extensionsOf, type Manifest } from "../load/manifest.js";
import type { JsonMap } from "../load/walk.js";
import { armsOf } from "./arms.js";
import type { CodeModel, DocumentModel, Idempotency, Model, SpecialismModel, ToolModel } from "./model.js";
import { identOf, nameDocuments, pascalCase, takenNames } from "./names.js";

const byCodePoint = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const sorted = <T>(record: Record<string, T>): [string, T][] =>
  Object.entries(record).sort(([a], [b]) => byCodePoint(a, b));

/** Doc policy: the first sentence, on one line; the rest is in the schema. */
export const firstSentence = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim();
  const end = line.match(/^.*?[^.\s](?<!\b(?:e\.g|i\.e|etc|vs|cf|incl|approx))[.!?](?=\s+[A-Z`"'([]|$)/);
  return end === null ? line : end[0];
};

function idempotencyOf(tool: Manifest["tools"][string], facts: SchemaFacts): Idempotency {
  const declared = facts.property(tool.request_schema, "idempotency_key");
  if (declared !== undefined) return declared;
  return tool.mutating && isExempt(facts.description(tool.request_schema)) ? "exempt" : "none";
}

function buildTool(name: string, manifest: Manifest, facts: SchemaFacts, extensions: JsonMap): ToolModel {
  const tool = manifest.tools[name]!;
  return {
    name,
    ident: identOf(name),
    pascal: pascalCase(name),
    protocol: tool.protocol,
    mutating: tool.mutating,
    idempotency: idempotencyOf(tool, facts),
    request: tool.request_schema,
    response: tool.response_schema,
    ...armsOf(tool, facts),
    failureFields: facts.failureFields(tool.response_schema).filter((field) => !answerFields.has(field)),
    specialisms: exercising(manifest, name),
    addedIn: tool.added_in,
    deprecatedIn: tool.deprecated_in,
    summary: firstSentence(facts.description(tool.request_schema)),
    extensions: (extensions[name] ?? {}) as JsonMap,
  };
}

const buildCodes = (manifest: Manifest): CodeModel[] =>
  sorted(manifest.error_codes).map(([code, entry]) => ({
    code,
    recovery: entry.recovery,
    description: firstSentence(entry.description),
    suggestion: entry.suggestion,
    addedIn: entry.added_in,
  }));

const buildSpecialisms = (manifest: Manifest): SpecialismModel[] =>
  sorted(manifest.specialisms).map(([id, entry]) => ({
    id,
    protocol: entry.protocol,
    title: entry.title,
    entryPoints: [...new Set(entry.entry_point_tools)].sort(byCodePoint),
    exercised: [...new Set(entry.exercised_tools)]
      .filter((tool) => Object.hasOwn(manifest.tools, tool))
      .sort(byCodePoint),
    harness: [...new Set(entry.exercised_tools)]
      .filter((tool) => !Object.hasOwn(manifest.tools, tool))
      .sort(byCodePoint),
  }));

function buildDocuments(release: LoadedRelease, tools: readonly ToolModel[]): DocumentModel[] {
  const needed = new Set(tools.flatMap((tool) => [...release.reach(tool.name)]));
  const paths = [...release.schemas.keys()].filter((path) => needed.has(path)).sort(byCodePoint);
  const names = nameDocuments(paths, takenNames(tools.map(({ name }) => name)));
  return paths.map((path) => ({ path, ...names.get(path)!, schema: release.schemas.get(path)!.schema }));
}

/**
 * Builds the IR of a release that its checks accept.
 * @param broken tools to leave out, with the reasons
 */
export function buildModel(release: LoadedRelease, broken: ReadonlyMap<string, string[]> = new Map()): Model {
  const manifest = checkedManifest(release);
  const facts = new SchemaFacts(release.schemas);
  const extensions = extensionsOf(release.manifest, release.word);
  const tools = Object.keys(manifest.tools)
    .filter((name) => !broken.has(name))
    .sort(byCodePoint)
    .map((name) => buildTool(name, manifest, facts, extensions.tools as JsonMap));
  return {
    word: release.word,
    version: release.version,
    digest: release.digest,
    generatedAt: manifest.generated_at,
    defaultUnknownRecovery: manifest.error_code_policy.default_unknown_recovery,
    policyNote: manifest.error_code_policy.note,
    tools,
    codes: buildCodes(manifest),
    specialisms: buildSpecialisms(manifest),
    documents: buildDocuments(release, tools),
    extensions: extensions.manifest as JsonMap,
    leftOut: [...broken].sort(([a], [b]) => byCodePoint(a, b)).map(([tool, because]) => ({ tool, because })),
  };
}
