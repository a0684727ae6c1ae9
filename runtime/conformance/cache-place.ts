/** Where releases that were fetched are kept: asked by commands that load nothing else of this room. */
import { homedir } from "node:os";
import path from "node:path";
import type { Release } from "../contract/index.js";

/** The user's own folder; for one that the system does not know, as containers are given, what it is there: the root. */
export function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return path.parse(process.cwd()).root;
  }
}

/** The user's cache folder: `$XDG_CACHE_HOME/adbind/releases`, or `~/.cache/adbind/releases`. */
export function releaseCache(env: Readonly<Record<string, string | undefined>>): string {
  const base = env.XDG_CACHE_HOME;
  // A relative path there is to be ignored (XDG Base Directory Specification, "Environment variables").
  const home = base !== undefined && path.isAbsolute(base) ? base : path.join(homeFolder(), ".cache");
  return path.join(home, "adbind", "releases");
}

/** A release's bundle in a cache. */
export const cachedBundle = (cache: string, { word, version }: Pick<Release, "word" | "version">): string =>
  path.join(cache, word, version, `${word}-${version}.tgz`);
