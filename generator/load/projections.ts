/** The copies of a release's tools in the form an MCP server lists them, as far as their manifests tell. */
import { createHash } from "node:crypto";
import type { ReleaseFiles } from "./files.js";
import { readJson } from "./read-json.js";
import { isMap, type JsonMap } from "./walk.js";

export interface ProjectionFile {
  /** Path of its manifest in the release. */
  readonly path: string;
  readonly manifest: JsonMap;
}

/** Those that can be read: what is wrong with a copy is no fault of the release. */
export const projectionsOf = (files: ReleaseFiles): ProjectionFile[] =>
  files.projections().flatMap((path) => {
    const { value } = readJson(files.read(path) ?? Buffer.alloc(0), path);
    return isMap(value) ? [{ path, manifest: value }] : [];
  });

/**
 * SHA-256, hex, over the manifests of the copies. The release's digest leaves them out, since repackaging drops them, and its facts
 * tell of them: whoever compares what was made of a release needs both.
 * @returns undefined where there are none
 */
export function copiesDigest(files: ReleaseFiles): string | undefined {
  const copies = projectionsOf(files);
  return copies.length === 0 ? undefined : createHash("sha256").update(JSON.stringify(copies)).digest("hex");
}
