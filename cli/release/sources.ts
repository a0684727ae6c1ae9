/** Where a release is fetched from, by the protocol's word: a table that comes with adbind, or what the user gives instead. */

import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { isJsonObject } from "../../runtime/contract/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { userPath } from "../output.js";

/** One protocol's place. `{version}` in a URL stands for the release's version, `{word}` for the protocol's word. */
export interface Source {
  readonly bundle: string;
  /** The bundle's SHA-256, as sha256sum writes it. */
  readonly checksum?: string;
  /** The versions there are: a JSON list of them, or an object with `versions`. */
  readonly index?: string;
}

/** Where names are looked up: a table of places on the network, or a folder of releases. */
export type Sources =
  | { readonly kind: "table"; readonly given: boolean; readonly words: Readonly<Record<string, Source>>; any?: Source }
  | { readonly kind: "folder"; readonly folder: string };

/** Releases that come with the package, and the table, stand beside `cli/` in the sources and one level higher beside `dist/`. */
export function packageManifests(): string {
  const candidates = ["../../manifests", "../../../manifests"].map((one) => path.resolve(import.meta.dirname, one));
  return candidates.find(existsSync) ?? candidates[0]!;
}

const off = (file: string, pointer: string, what: string, remedy: string): AdbindError =>
  new AdbindError("usage", what, { where: `${file}#${pointer}`, remedy });

const example = '{"word": {"bundle": "https://host/{version}.tgz", "checksum": "https://host/{version}.tgz.sha256"}}';

function checkUrl(file: string, pointer: string, value: unknown, versioned: boolean): void {
  const given = typeof value === "string" ? value : "";
  if (!given.startsWith("https://") || !URL.canParse(given))
    throw off(file, pointer, `${JSON.stringify(value)} is no https URL`, `write the table as ${example}`);
  if (versioned && !given.includes("{version}"))
    throw off(file, pointer, "the URL does not say where the version stands", "put {version} in its place");
}

/** Reads a table of sources. @throws AdbindError usage, with file, pointer and remedy */
function readTable(file: string): Record<string, Source> {
  let table: unknown;
  try {
    table = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw off(file, "", `the table of sources is not JSON: ${(cause as Error).message}`, `write it as ${example}`);
  }
  if (!isJsonObject(table)) throw off(file, "", "a table of sources is an object", `write it as ${example}`);
  for (const [word, source] of Object.entries(table)) {
    if (!isJsonObject(source)) throw off(file, `/${word}`, "a source is an object", `write the table as ${example}`);
    const strange = Object.keys(source).find((key) => !["bundle", "checksum", "index"].includes(key));
    if (strange !== undefined)
      throw off(file, `/${word}/${strange}`, "a source has bundle, checksum and index only", "take the field out");
    checkUrl(file, `/${word}/bundle`, source.bundle, true);
    if (source.checksum !== undefined) checkUrl(file, `/${word}/checksum`, source.checksum, true);
    if (source.index !== undefined) checkUrl(file, `/${word}/index`, source.index, false);
  }
  return table as unknown as Record<string, Source>;
}

/**
 * What `--source`, or else ADBIND_SOURCES, names: a folder of releases, a table, or the URL of bundles; the table that comes
 * with adbind when neither is there.
 * @throws AdbindError usage
 */
export function sourcesFor(option: string | undefined): Sources {
  const given = option ?? (process.env.ADBIND_SOURCES || undefined);
  if (given === undefined) {
    const file = path.join(packageManifests(), "sources.json");
    return { kind: "table", given: false, words: existsSync(file) ? readTable(file) : {} };
  }
  const from = option === undefined ? "ADBIND_SOURCES" : "--source";
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) {
    checkUrl(from, "", given, true);
    return { kind: "table", given: true, words: {}, any: { bundle: given, checksum: `${given}.sha256` } };
  }
  const place = userPath(given);
  if (!existsSync(place)) {
    throw new AdbindError("usage", `${from} names no file or folder`, {
      where: place,
      remedy: "give a folder of releases, a table of sources, or the URL of bundles with {version} in it",
    });
  }
  if (statSync(place).isDirectory()) return { kind: "folder", folder: place };
  return { kind: "table", given: true, words: readTable(place) };
}

/** A URL of a source with word and version in their places. */
export const urlOf = (template: string, word: string, version: string): string =>
  template.replaceAll("{version}", version).replaceAll("{word}", word);
