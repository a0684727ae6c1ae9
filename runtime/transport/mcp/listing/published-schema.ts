/**
 * Schemas as a release publishes them for MCP: copies of its own beside a manifest that says which file is of which tool. Bindings
 * leave them out, for they are ten times as large as all else, so they are read from the release's folder.
 */
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { isJsonObject, type JsonObject } from "../../../contract/index.js";
import { AdbindError } from "../../../errors.js";

/** Bytes of one file; the largest published one has 1 MB. */
const MOST_BYTES = 16 * 1024 * 1024;

const MANIFEST = "manifest.json";

export interface PublishedSchemas {
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | undefined;
}

const unusable = (where: string, what: string, remedy: string): AdbindError =>
  new AdbindError("file_unusable", what, { where, remedy });

const whole = "take the release's folder as it was published, or list `compact` or `full` schemas";

/** A copy of the release's tools for `tools/list`. */
interface Projection {
  /** Nothing outside of it is read: the release's folder, where the manifest tells which it is. */
  readonly root: string;
  readonly folder: string;
  readonly manifest: JsonObject;
}

/**
 * @param folder one with a manifest that gives each tool its schemas, in the `mcp/` of a release
 * @param version of the release that is listed
 * @returns what is published of a tool; undefined where nothing is
 * @throws AdbindError `file_unusable` where the folder is none of that release's
 */
export function publishedSchemas(folder: string, version: string): (tool: string) => PublishedSchemas | undefined {
  const projections = projectionsAt(path.resolve(folder), version);
  return (tool) => {
    for (const { root, folder, manifest } of projections) {
      const entry = member(manifest.tools, tool);
      if (!isJsonObject(entry) || typeof entry.inputSchema !== "string") continue;
      const schemaIn = (file: string): JsonObject => ({
        type: "object",
        ...readJson(root, path.resolve(folder, file)),
      });
      return {
        inputSchema: schemaIn(entry.inputSchema),
        outputSchema: typeof entry.outputSchema === "string" ? schemaIn(entry.outputSchema) : undefined,
      };
    }
    return undefined;
  };
}

/** The one that is named, then the one it names for tools it leaves out. */
function projectionsAt(folder: string, version: string): Projection[] {
  if (!isFile(path.join(folder, MANIFEST))) {
    throw unusable(folder, `there is no ${MANIFEST} of a published tool list`, `name a folder with one; ${whole}`);
  }
  const manifest = readJson(folder, path.join(folder, MANIFEST));
  if (!hasSchemas(manifest)) {
    throw unusable(
      folder,
      `its ${MANIFEST} gives no tool an inputSchema`,
      "name the folder of a published tool list: where a release has some, each is a folder with a manifest.json below its mcp/; " +
        "where it has none, list `compact` or `full` schemas",
    );
  }
  const {
    discovery_profile: parent,
    canonical_wire_manifest: canonical,
    complete_discovery_projection: rest,
  } = manifest;
  if (typeof parent === "string") {
    const named = path.dirname(path.resolve(folder, parent));
    throw unusable(folder, "the release says that this is no source of tools/list", `name ${named}`);
  }
  const root = typeof canonical === "string" ? rootOf(path.resolve(folder, canonical), folder, version) : folder;
  const own = { root, folder, manifest };
  if (typeof rest !== "string") return [own];
  const file = path.resolve(folder, rest);
  return [own, { root, folder: path.dirname(file), manifest: readJson(root, file) }];
}

const hasSchemas = ({ tools }: JsonObject): boolean =>
  isJsonObject(tools) &&
  Object.values(tools).some((entry) => isJsonObject(entry) && typeof entry.inputSchema === "string");

/** The folder of the release, which must be the one that is listed. */
function rootOf(manifest: string, folder: string, version: string): string {
  const root = path.dirname(manifest);
  const stated = Object.entries(readJson(root, manifest)).filter(([name]) => name.endsWith("_version"));
  if (stated.some(([, value]) => value === version) && isBelow(root, folder)) return root;
  const shown = stated.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(", ") || "no version";
  throw unusable(
    folder,
    `it is of a release that states ${shown}`,
    `name a folder of release ${version}, which is listed`,
  );
}

const member = (object: unknown, name: string): unknown =>
  isJsonObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;

const isBelow = (root: string, file: string): boolean =>
  file.startsWith(root.endsWith(path.sep) ? root : root + path.sep);

const isFile = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;

function readJson(root: string, file: string): JsonObject {
  if (!isBelow(root, file)) throw unusable(file, `it is outside of ${root}`, whole);
  if (!isFile(file)) throw unusable(file, "there is no such file", whole);
  if (statSync(file).size > MOST_BYTES) throw unusable(file, `it has more than ${MOST_BYTES} bytes`, whole);
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (isJsonObject(value)) return value;
  } catch (cause) {
    throw new AdbindError("file_unusable", "it is no JSON", { where: file, remedy: whole, cause });
  }
  throw unusable(file, "it is no JSON object", whole);
}
