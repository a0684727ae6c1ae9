/** Suites that are in the user's cache: a bundle that was fetched by its name brings the storyboards of its release. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { Release } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { loadSuite, type Suite } from "./load.js";

/** The user's cache folder: `$XDG_CACHE_HOME/adbind/releases`, or `~/.cache/adbind/releases`. */
export function releaseCache(env: Readonly<Record<string, string | undefined>>): string {
  const base = env.XDG_CACHE_HOME;
  // A relative path there is to be ignored (XDG Base Directory Specification, "Environment variables").
  const home = base !== undefined && path.isAbsolute(base) ? base : path.join(homedir(), ".cache");
  return path.join(home, "adbind", "releases");
}

/** A release's bundle in a cache. */
export const cachedBundle = (cache: string, { word, version }: Pick<Release, "word" | "version">): string =>
  path.join(cache, word, version, `${word}-${version}.tgz`);

/**
 * The suite of a release, where its bundle is in the cache and has one.
 * @param env where the cache is, as the process has it
 */
export async function cachedSuite(
  release: Pick<Release, "word" | "version">,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Suite | undefined> {
  const bundle = cachedBundle(releaseCache(env), release);
  if (!existsSync(bundle)) return undefined;
  try {
    return await loadSuite(bundle);
  } catch (error) {
    if (error instanceof AdbindError && error.code === "suite_unreadable") return undefined;
    throw error;
  }
}
