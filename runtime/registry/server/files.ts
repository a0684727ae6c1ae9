/** Files served as they are: releases of `manifests/`, and the extraction vectors. Paths come from a list, never from a request. */
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { packageFolder } from "./document.js";

export interface ServedFile {
  readonly body: Record<string, unknown>;
  /** Fingerprint, quoted. */
  readonly etag: string;
}

export interface Files {
  /** A file of a release, by its path within. */
  release(version: string, file: string): ServedFile | undefined;
  /** The file of the newest release that has it. */
  newest(file: string): ServedFile | undefined;
  vectors(): ServedFile | undefined;
}

export const etagOf = (content: string | Buffer): string =>
  `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;

/** Folders are named by versions. */
const newerFirst = (a: string, b: string): number => b.localeCompare(a, "en", { numeric: true });

/** @param folder where releases lie, one folder each; default the package's own */
export function openFiles(folder = packageFolder("manifests")): Files {
  const known = new Set(globSync("*/**/*.json", { cwd: folder }).map((file) => file.split(path.sep).join("/")));
  const read = new Map<string, ServedFile>();
  const load = (file: string): ServedFile => {
    let found = read.get(file);
    if (found === undefined) {
      const text = readFileSync(path.join(folder, file), "utf8");
      found = { body: JSON.parse(text), etag: etagOf(text) };
      read.set(file, found);
    }
    return found;
  };
  const vectorsFile = "registry/webhook-payload-extraction.json";
  return {
    release: (version, file) => (known.has(`${version}/${file}`) ? load(`${version}/${file}`) : undefined),
    newest: (file) => {
      const [newest] = [...known].filter((one) => one.endsWith(`/${file}`)).sort((a, b) => newerFirst(a, b));
      return newest === undefined ? undefined : load(newest);
    },
    vectors: () => (existsSync(path.join(folder, vectorsFile)) ? load(vectorsFile) : undefined),
  };
}
