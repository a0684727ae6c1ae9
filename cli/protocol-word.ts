/** The protocol's word, where a command needs one: of a release, of the config, or of the bindings around. Never a guess. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { findReleases } from "../generator/load/files.js";
import { identifyRelease } from "../generator/load/load.js";
import { readJson } from "../generator/load/read-json.js";
import { isMap } from "../generator/load/walk.js";
import { AdbindError } from "../runtime/errors.js";
import { readGenerateConfig } from "./config.js";
import { userPath } from "./output.js";
import { type ReleaseOptions, resolveRelease, resolveReleases } from "./release/resolve.js";

export interface WordOptions extends ReleaseOptions {
  readonly word?: string;
  readonly release?: string;
}

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

/** Folders below which bindings are looked for: `<out>/<version>` is two levels down. */
const LEVELS = 2;

/** Words of the bindings in a folder and a little below it: generated folders say what they were made from. */
function wordsBelow(folder: string, levels = LEVELS): string[] {
  if (!existsSync(folder)) return [];
  const own = path.join(folder, "owned.json");
  if (existsSync(own)) {
    const { value } = readJson(readFileSync(own), own);
    return isMap(value) && typeof value.word === "string" && value.word !== "" ? [value.word] : [];
  }
  if (levels === 0) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
    .flatMap(({ name }) => wordsBelow(path.join(folder, name), levels - 1));
}

/** Words of the releases a config names. */
async function wordsOfConfig(): Promise<string[]> {
  const { releases = [], out, source } = await readGenerateConfig(undefined);
  const words: string[] = [];
  for (const given of releases) {
    const place = await resolveReleases(given, source === undefined ? {} : { source });
    for (const one of (await findReleases(place)).releases) words.push((await identifyRelease(one)).word);
  }
  return words.length > 0 || out === undefined ? words : wordsBelow(out);
}

async function wordsHere(): Promise<string[]> {
  const configured = await wordsOfConfig();
  return [...new Set(configured.length > 0 ? configured : wordsBelow(userPath(".")))];
}

/** The one word of the config or the bindings around; none where nothing says it, or several say different ones. */
export async function wordHere(): Promise<string | undefined> {
  const [only, ...others] = await wordsHere();
  return others.length === 0 ? only : undefined;
}

/**
 * The word a command is to use.
 * @throws AdbindError `usage` where nothing says it, or several say different ones
 */
export async function protocolWord({ word, release, ...options }: WordOptions): Promise<string> {
  if (word !== undefined) return checkedWord(word);
  if (release !== undefined) return (await identifyRelease(await resolveRelease(release, options))).word;
  const words = await wordsHere();
  const [only, ...others] = words;
  const remedy = "give --release (a folder, manifest.json, bundle or word@version), or --word";
  if (only === undefined) throw usage("nothing here says which protocol the key is for", remedy);
  if (others.length > 0) throw usage(`there are bindings of several protocols: ${words.join(", ")}`, remedy);
  return only;
}

function checkedWord(word: string): string {
  if (!/^[a-z][a-z0-9]*$/.test(word)) throw usage(`No protocol word ${word}`, "give lower-case letters and digits");
  return word;
}
