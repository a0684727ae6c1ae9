/** A release on disk as the value that generated code would be: for commands that meet a release at run time. */
import { checkRelease } from "../../generator/lint/check.js";
import { loadRelease } from "../../generator/load/load.js";
import { buildModel } from "../../generator/model/build.js";
import type { Model, ToolModel } from "../../generator/model/model.js";
import { validationOf } from "../../generator/model/validation.js";
import type {
  AnyTool,
  ErrorTable,
  Recovery,
  Release,
  SchemaDocuments,
  SpecialismTable,
} from "../../runtime/contract/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { type ReleaseOptions, resolveRelease } from "../release/resolve.js";
import { resolveForPeers } from "../release-here.js";

const toolOf = (tool: ToolModel): AnyTool => ({
  name: tool.name,
  protocol: tool.protocol,
  ...(tool.summary !== "" && { summary: tool.summary }),
  mutating: tool.mutating,
  idempotency: tool.idempotency,
  request: tool.request,
  arms: Object.fromEntries(tool.arms.map(({ status, schema }) => [status, schema ?? null])),
  statuses: tool.statuses as AnyTool["statuses"],
  ...(tool.failureFields !== undefined && { failureFields: tool.failureFields }),
});

function toRelease(model: Model): Release {
  const documents = Object.fromEntries(model.documents.map(({ path: at, validation }) => [at, validation]));
  const errors: ErrorTable = Object.fromEntries(
    model.codes.map(({ code, recovery, suggestion }) => [code, { recovery: recovery as Recovery, suggestion }]),
  );
  const specialisms: SpecialismTable = Object.fromEntries(
    model.specialisms.map(({ id, protocol, role, entryPoints, exercised, harness }) => [
      id,
      { protocol, ...(role !== undefined && { role }), entryPoints, exercised, harness },
    ]),
  );
  return {
    word: model.word,
    version: model.version,
    digest: model.digest,
    generatedAt: model.generatedAt,
    tools: Object.fromEntries(model.tools.map((tool) => [tool.name, toolOf(tool)])),
    errors,
    defaultUnknownRecovery: model.defaultUnknownRecovery as Recovery,
    specialisms,
    facts: model.facts,
    events: Object.fromEntries(model.events.map(({ kind, schema }) => [kind, { schema }])),
    schemas: async () => documents,
  };
}

/** A release, and every schema of it: those that no tool reaches are those of events, mostly. */
export interface WholeRelease {
  readonly release: Release;
  readonly documents: SchemaDocuments;
  /** The same with what validation sets aside: defaults, marks and words. */
  readonly published: SchemaDocuments;
}

/**
 * The release at a path, whole or in part.
 * @throws AdbindError `release_unreadable`, `release_invalid`
 */
export async function wholeReleaseAt(source: string): Promise<WholeRelease> {
  const loaded = await loadRelease(source);
  const { broken, findings } = await checkRelease(loaded, { partial: true, levels: ["error"] });
  const fault = findings.find(({ level }) => level === "error");
  if (fault !== undefined) {
    const remedy = "adbind lint tells more";
    throw new AdbindError("release_invalid", `the release cannot be used: ${fault.message}`, { where: source, remedy });
  }
  const textOf = validationOf(loaded.documents);
  const documents = Object.fromEntries([...loaded.documents.keys()].map((name) => [name, textOf(name)]));
  const published = Object.fromEntries(
    [...loaded.documents].map(([name, { schema }]) => [name, JSON.stringify(schema)]),
  );
  return { release: toRelease(buildModel(loaded, broken)), documents, published };
}

/**
 * The release that agents and receivers are met with: the one `--release` names, or what is at hand, whole or in part.
 * @throws AdbindError `usage`, `release_unreadable`, `release_invalid`
 */
export const releaseForPeers = async (given: string | undefined, options: ReleaseOptions = {}): Promise<Release> =>
  (await wholeReleaseAt(await resolveForPeers(given, options))).release;

/**
 * The release `--release` names, whole or in part.
 * @throws AdbindError `usage`, `release_unreadable`, `release_invalid`
 */
export const releaseNamed = async (given: string | undefined, options: ReleaseOptions = {}): Promise<Release> =>
  (await wholeReleaseAt(await resolveRelease(given, options))).release;
