/** The official download of a release made for a test: a list of contents at the top, the release in `schemas/`. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { create } from "tar";
import { manifestOf } from "./mutate-release.js";
import { type Files, smallRelease, tempFolder, writeRelease } from "./release.js";

const versionOf = (files: Files): string =>
  String((files["manifest.json"] as Record<string, unknown> | undefined)?.proto_version ?? "0.0.0");

/** The files of a bundle, unpacked. */
export function bundleFiles(release: Files): Files {
  const root = `proto-${versionOf(release)}`;
  const inSchemas = Object.entries(release).map(([file, content]) => [`${root}/schemas/${file}`, content]);
  return {
    [`${root}/manifest.json`]: { proto_version: versionOf(release), root_dir: root, contents: { schemas: true } },
    [`${root}/README.md`]: "# A release",
    [`${root}/schemas/bundled/manifest.json`]: { bundled: true },
    [`${root}/schemas/mcp/place-order-request.json`]: { $schema: "https://json-schema.org/draft/2020-12/schema" },
    [`${root}/compliance/index.json`]: { storyboards: [] },
    ...Object.fromEntries(inSchemas),
  };
}

/** Packs files to `<name>` in a folder of its own, or in the one given. */
export async function pack(files: Files, name = "1.2.3.tgz", folder = tempFolder()): Promise<string> {
  const content = writeRelease(files);
  const file = path.join(folder, name);
  const tops = [...new Set(Object.keys(files).map((one) => one.split("/")[0]!))];
  await create({ file, gzip: !name.endsWith(".tar"), cwd: content }, tops);
  return file;
}

export const sha256Of = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");

/** Puts the checksum of a file beside it, as sha256sum writes it. */
export function writeChecksum(file: string, hex = sha256Of(file)): void {
  writeFileSync(`${file}.sha256`, `${hex}  ${path.basename(file)}\n`);
}

/** The small release under another word and version, as its bundle. */
export async function smallBundle(version: string, word = "ads"): Promise<string> {
  const files = smallRelease();
  const { proto_version: _, ...manifest } = manifestOf(files);
  files["manifest.json"] = { [`${word}_version`]: version, ...manifest };
  return pack(bundleFiles(files), `${version}.tgz`);
}
