/** `adbind releases`: releases that can be named or lie in a folder. */
import type { Command } from "commander";
import { findReleases } from "../generator/load/files.js";
import { loadRelease } from "../generator/load/load.js";
import { isMap, type SchemaJson } from "../generator/load/walk.js";
import { AdbindError } from "../runtime/errors.js";
import { plural, printJson, shownPath, userPath } from "./output.js";
import { cached, cacheFolder } from "./release/cache.js";
import { registerShow } from "./release/show.js";
import { packageManifests } from "./release/sources.js";

interface Row {
  word: string;
  version: string;
  tools: number;
  codes: number;
  specialisms: number;
  digest: string;
  /** Cached, shipped with adbind, or in the folder given. */
  where: "cache" | "package" | "folder";
  path: string;
  /** Why it cannot be read; the other fields are empty then. */
  problem?: string;
}

const count = (value: SchemaJson | undefined): number => (isMap(value) ? Object.keys(value).length : 0);

async function rowOf(path: string, where: Row["where"]): Promise<Row> {
  const place = { where, path };
  try {
    const { word, version, manifest, digest } = await loadRelease(path);
    const { tools, error_codes, specialisms } = manifest;
    return {
      word,
      version,
      tools: count(tools),
      codes: count(error_codes),
      specialisms: count(specialisms),
      digest,
      ...place,
    };
  } catch (error) {
    if (!(error instanceof AdbindError)) throw error;
    return { word: "", version: "", tools: 0, codes: 0, specialisms: 0, digest: "", ...place, problem: error.message };
  }
}

async function rowsOf(
  folder: string | undefined,
): Promise<{ rows: Row[]; passedOver: { path: string; why: string }[] }> {
  const given = folder === undefined ? { releases: [], passedOver: [] } : await findReleases(userPath(folder));
  const own = (await findReleases(packageManifests())).releases;
  const rows: Row[] = [];
  for (const path of given.releases) rows.push(await rowOf(path, "folder"));
  for (const { file } of cached(cacheFolder())) rows.push(await rowOf(file, "cache"));
  for (const path of own) rows.push(await rowOf(path, "package"));
  return { rows, passedOver: given.passedOver };
}

/** Digits of a digest that tell releases apart for people; `--json` has them all. */
const SHORT_DIGEST = 12;

function print(rows: readonly Row[]): void {
  const cells = rows.map((row) => [
    row.problem === undefined ? `${row.word}@${row.version}` : "unreadable",
    String(row.tools),
    String(row.codes),
    String(row.specialisms),
    row.digest.slice(0, SHORT_DIGEST),
    row.where,
    row.problem ?? shownPath(row.path),
  ]);
  const table = [["release", "tools", "codes", "specialisms", "digest", "where", "path"], ...cells];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    );
}

export function register(command: Command): void {
  registerShow(command.command("show"));
  const list = command.command("list");
  list.exitOverride();
  list
    .description("releases that are cached, that come with adbind, and that lie in a folder")
    .argument("[folder]", "a folder of releases, or a release")
    .option("--json", "print them as JSON")
    .addHelpText(
      "after",
      `
Each has the protocol's word and its version, the numbers of its tools, error codes and specialisms, and its digest, which
is the same in whatever form the release comes. Fetched releases are kept in ${shownPath(cacheFolder())}.

Example: adbind releases list downloads/`,
    )
    .action(async (folder: string | undefined, { json }: { json?: boolean }) => {
      const { rows, passedOver } = await rowsOf(folder);
      if (json) return printJson({ cache: cacheFolder(), releases: rows, passedOver });
      print(rows);
      for (const { path, why } of passedOver) console.error(`passed over ${shownPath(path)}: ${why}`);
      if (folder !== undefined && passedOver.length > 0)
        console.error(`${plural(passedOver.length, "file")} passed over`);
    });
}
