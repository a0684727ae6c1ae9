/** The protocol's word, where a command needs one: of a release, of the config, or of the bindings around. Never a guess. */
import { identifyRelease } from "../generator/load/load.js";
import { AdbindError } from "../runtime/errors.js";
import { type ReleaseOptions, resolveRelease } from "./release/resolve.js";
import { releasesHere } from "./release-here.js";

export interface WordOptions extends ReleaseOptions {
  readonly word?: string;
  readonly release?: string;
}

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

async function wordsHere(): Promise<string[]> {
  return [...new Set((await releasesHere()).map(({ word }) => word))];
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
