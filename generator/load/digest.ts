/**
 * What a release is, whatever it came in: SHA-256 over its manifest and all its schemas in a normal form. Repackaging
 * drops ids, and writes references as paths, as URLs or relative to the file; none of that is the release.
 */
import { createHash } from "node:crypto";
import path from "node:path";
import type { SchemaFile } from "./closure.js";
import type { JsonMap } from "./walk.js";

export interface DigestInput {
  /** Keys sorted, paths normal. */
  manifest: JsonMap;
  /** Every schema file of the release, in the order of their paths; references rewritten, ids removed. */
  files: ReadonlyMap<string, SchemaFile>;
  /** What stands before paths in absolute references. */
  prefixes: readonly string[];
  /** A file as it is, for one that cannot be read as JSON. */
  read: (file: string) => Uint8Array | undefined;
}

/** A reference that stands where no schema does, as in an index of schemas: repackaging rewrites it with the others. */
function normalRef(ref: string, file: string, { prefixes, files }: DigestInput): string {
  const hash = ref.indexOf("#");
  const [uri, fragment] = hash < 0 ? [ref, ""] : [ref.slice(0, hash), ref.slice(hash).replace(/^#$/, "")];
  if (uri === "") return `/${file}${fragment}`;
  if (uri.startsWith("/") && files.has(uri.slice(1))) return uri + fragment;
  const prefix = prefixes.find((one) => uri.startsWith(one));
  if (prefix !== undefined) return `/${uri.slice(prefix.length)}${fragment}`;
  if (uri.startsWith("/") || /^[a-z][a-z0-9+.-]*:/i.test(uri)) return ref;
  return `/${path.posix.join(path.posix.dirname(file), uri)}${fragment}`;
}

const refPattern = /"\$ref":"((?:[^"\\]|\\.)*)"/g;

/** A file's text in the normal form. Quotes inside strings are escaped, so the pattern meets members only. */
const normalText = (file: SchemaFile, input: DigestInput): string =>
  JSON.stringify(file.schema).replace(
    refPattern,
    (_, ref: string) => `"$ref":${JSON.stringify(normalRef(JSON.parse(`"${ref}"`), file.path, input))}`,
  );

/** @returns SHA-256, hex; the order of keys and files does not count, nor do ids, spellings of references, projections */
export function releaseDigest(input: DigestInput): string {
  const hash = createHash("sha256");
  const part = (name: string, content: string | Uint8Array): void => {
    hash.update(`${name}\0${content.length}\0`).update(content).update("\0");
  };
  // Where its meta-schema is to be found differs with the package, and says nothing of the release.
  const { $schema: _, ...manifest } = input.manifest;
  part("manifest.json", JSON.stringify(manifest));
  for (const [name, file] of input.files) {
    const unread = file.findings.some(({ rule }) => rule === "json" || rule === "schema-type");
    // A file that cannot be read is part of what the release is, or one turned to garbage would pass for unchanged.
    part(name, unread ? (input.read(name) ?? "") : normalText(file, input));
  }
  return hash.digest("hex");
}
