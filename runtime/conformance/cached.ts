/** Suites that are in the user's cache: a bundle that was fetched by its name brings the storyboards of its release. */
import { existsSync } from "node:fs";
import type { Release } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { cachedBundle, releaseCache } from "./cache-place.js";
import { loadSuite, type Suite } from "./load.js";

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
