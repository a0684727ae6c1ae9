/** The copies of a release's tools in the form an MCP server lists them, as far as their manifests tell. */
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
