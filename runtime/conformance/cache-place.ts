/** Where releases that were fetched are kept: asked by commands that load nothing else of this room. */
import { homedir } from "node:os";
import path from "node:path";
import type { Release } from "../contract/index.js";

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
