/** Checked release -> IR. */
import { createHash } from "node:crypto";
import {
  answerFields,
  type Idempotency,
  type Recovery,
  type ReleaseFacts,
  wireNames,
} from "../../runtime/contract/index.js";
import { isRecovery } from "../../runtime/contract/recovery.js";
import { SchemaFacts } from "../load/facts.js";
import { checkedManifest, type LoadedRelease } from "../load/load.js";
import { exercising, extensionsOf, isExempt, type Manifest } from "../load/manifest.js";
import { projectionsOf } from "../load/projections.js";
import type { JsonMap } from "../load/walk.js";
import { armsOf } from "./arms.js";
import { completedShape } from "./completed.js";
import { deriveFacts, type PackageFacts } from "./facts/derive.js";
import type { FactTool } from "./facts/read.js";
import type { ArmModel, CodeModel, DocumentModel, EventModel, Model, SpecialismModel, ToolModel } from "./model.js";
import { readShapes, type Shapes } from "./read-shapes.js";
import { firstSentence } from "./sentence.js";
import { validationOf } from "./validation.js";

const byCodePoint = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const sorted = <T>(record: Record<string, T>): [string, T][] =>
  Object.entries(record).sort(([a], [b]) => byCodePoint(a, b));

function idempotencyOf(tool: Manifest["tools"][string], facts: SchemaFacts): Idempotency {
  const declared = facts.property(tool.request_schema, "idempotency_key");
  if (declared !== undefined) return declared;
  return tool.mutating && isExempt(facts.description(tool.request_schema)) ? "exempt" : "none";
}

type BareTool = Omit<ToolModel, "arms"> & { arms: Omit<ArmModel, "shape">[] };

function buildTool(name: string, manifest: Manifest, facts: SchemaFacts, extensions: JsonMap): BareTool {
  const tool = manifest.tools[name]!;
  return {
    name,
    protocol: tool.protocol,
    mutating: tool.mutating,
    idempotency: idempotencyOf(tool, facts),
    request: tool.request_schema,
    response: tool.response_schema,
    ...armsOf(tool, facts),
    failureFields: facts.failureFields(tool.response_schema)?.filter((field) => !answerFields.has(field)),
    specialisms: exercising(manifest, name),
    addedIn: tool.added_in,
    deprecatedIn: tool.deprecated_in,
    summary: tool.summary ?? firstSentence(facts.description(tool.request_schema)),
    extensions: (extensions[name] ?? {}) as JsonMap,
  };
}

/** A class that is none of those that callers act on leaves them nothing to do, as on the wire. */
const recoveryClass = (given: string): Recovery => (isRecovery(given) ? given : "terminal");

const buildCodes = ({ error_codes: codes, error_code_policy: policy }: Manifest): CodeModel[] =>
  sorted(codes).map(([code, entry]) => ({
    code,
    recovery: recoveryClass(entry.recovery ?? policy.default_unknown_recovery),
    description: entry.description,
    suggestion: entry.suggestion,
    addedIn: entry.added_in,
  }));

/** Those who call are told apart; sellers and governance agents both answer. */
const callerOf = ({ roles }: Pick<ReleaseFacts, "roles">, id: string): SpecialismModel["role"] => {
  const role = Object.hasOwn(roles, id) ? roles[id]!.value : undefined;
  return role === "buyer" || role === "orchestrator" ? role : undefined;
};

const buildSpecialisms = (manifest: Manifest, facts: Pick<ReleaseFacts, "roles">): SpecialismModel[] =>
  sorted(manifest.specialisms).map(([id, entry]) => ({
    id,
    protocol: entry.protocol,
    title: entry.title,
    role: callerOf(facts, id),
    entryPoints: [...new Set(entry.entry_point_tools)].sort(byCodePoint),
    exercised: [...new Set(entry.exercised_tools)]
      .filter((tool) => Object.hasOwn(manifest.tools, tool))
      .sort(byCodePoint),
    harness: [...new Set(entry.exercised_tools)]
      .filter((tool) => !Object.hasOwn(manifest.tools, tool))
      .sort(byCodePoint),
  }));

/** The same tool, its arms with what they carry. */
const withShapes = (tool: BareTool, { resolve }: Shapes, word: string): ToolModel => ({
  ...tool,
  arms: tool.arms.map((arm): ArmModel => {
    const whole = arm.carries === "data" && arm.schema !== undefined ? resolve(arm.schema) : undefined;
    if (whole === undefined || arm.status !== "completed") return { ...arm, shape: whole };
    const reading = { resolve, statuses: tool.statuses, failing: [wireNames(word).error] };
    return { ...arm, shape: completedShape(whole, reading) };
  }),
});

const digestOf = (schema: unknown): string => createHash("sha256").update(JSON.stringify(schema)).digest("hex");

/** Schema files that some tool, event, or one of the further files, reaches; sorted. */
function neededSchemas(
  release: LoadedRelease,
  tools: readonly BareTool[],
  { events, further }: { readonly events: readonly string[]; readonly further: readonly string[] },
): LoadedRelease["schemas"] {
  const needed = new Set([...tools.flatMap((tool) => [...release.reach(tool.name)]), ...release.reachFrom(further)]);
  for (const path of release.reachOfEvents(events)) needed.add(path);
  const files = [...release.documents].filter(([path]) => needed.has(path));
  return new Map(files.sort(([a], [b]) => byCodePoint(a, b)));
}

/** Kinds of events whose schemas are sound, all they refer to included. A challenge is no event: it is answered at once. */
function buildEvents(release: LoadedRelease, { events }: Pick<PackageFacts, "events">): EventModel[] {
  const sound = (path: string): boolean => {
    const reached = [...release.reachOfEvents([path])];
    return reached.length > 0 && reached.every((one) => release.documents.get(one)?.findings.length === 0);
  };
  return Object.entries(events.kinds)
    .filter(([, { value }]) => !value.channels.includes("challenge"))
    .map(([kind, { value }]) => ({ kind, schema: value.schema }))
    .filter(({ schema }) => sound(schema))
    .sort((a, b) => byCodePoint(a.kind, b.kind));
}

function buildDocuments(schemas: LoadedRelease["schemas"], { resolve }: Shapes): DocumentModel[] {
  const validation = validationOf(schemas);
  return [...schemas].map(([path, { schema }]) => ({
    path,
    shape: resolve(path)!,
    validation: validation(path),
    digest: digestOf(schema),
  }));
}

const factsOf = ({ word, version, manifest, documents, source }: LoadedRelease, tools: readonly FactTool[]) =>
  deriveFacts({ word, version, manifest, documents, projections: projectionsOf(source), tools });

/**
 * What a release says about itself, without the rest of the IR.
 * @param release one that its checks accept
 */
export function releaseFacts(release: LoadedRelease): PackageFacts {
  const manifest = checkedManifest(release);
  return factsOf(
    release,
    Object.keys(manifest.tools)
      .sort(byCodePoint)
      .map((name) => {
        const { request_schema: request, response_schema: response } = manifest.tools[name]!;
        return { name, request, response };
      }),
  );
}

/**
 * Builds the IR of a release that its checks accept.
 * @param broken tools to leave out, with the reasons
 * @param further gives schema files that no tool reaches and that belong to it all the same; none by default
 */
export function buildModel(
  release: LoadedRelease,
  broken: ReadonlyMap<string, string[]> = new Map(),
  further: (facts: ReleaseFacts) => readonly string[] = () => [],
): Model {
  const manifest = checkedManifest(release);
  const said = new SchemaFacts(release.schemas);
  const extensions = extensionsOf(release.manifest, release.word);
  const tools = Object.keys(manifest.tools)
    .filter((name) => !broken.has(name))
    .sort(byCodePoint)
    .map((name) => buildTool(name, manifest, said, extensions.tools as JsonMap));
  const { projections: _, ...facts } = factsOf(release, tools);
  const events = buildEvents(release, facts);
  // The envelope's own schema judges no result: it takes whatever one of the many arms takes.
  const schemas = neededSchemas(release, tools, {
    events: events.map(({ schema }) => schema),
    further: further(facts),
  });
  const shapes = readShapes(
    schemas,
    tools.flatMap(({ arms }) => arms.flatMap(({ schema }) => schema ?? [])),
  );
  return {
    word: release.word,
    version: release.version,
    digest: release.digest,
    generatedAt: manifest.generated_at,
    defaultUnknownRecovery: recoveryClass(manifest.error_code_policy.default_unknown_recovery),
    policyNote: manifest.error_code_policy.note,
    tools: tools.map((tool) => withShapes(tool, shapes, release.word)),
    toolNames: release.toolNames,
    codes: buildCodes(manifest),
    specialisms: buildSpecialisms(manifest, facts),
    documents: buildDocuments(schemas, shapes),
    events,
    resolve: shapes.resolve,
    places: shapes.places,
    extensions: extensions.manifest as JsonMap,
    facts,
    leftOut: [...broken].sort(([a], [b]) => byCodePoint(a, b)).map(([tool, because]) => ({ tool, because })),
  };
}
