/** Where the published releases, payloads and vectors are; tests that need them say so and pass when they are not there. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

export const corpus = path.resolve(root, process.env.ADBIND_CORPUS ?? "../shared");

/** Folders of the published releases; empty, with a word, when there is no corpus. */
export function publishedReleases(): string[] {
  const folder = path.join(corpus, "releases");
  if (!existsSync(folder)) {
    console.log(`skipped: no published releases at ${folder}; set ADBIND_CORPUS`);
    return [];
  }
  return readdirSync(folder)
    .sort()
    .map((name) => path.join(folder, name));
}

/** The release that comes with the protocol's own SDK, when it is installed; it lacks two schema files. */
export function peerRelease(): string | undefined {
  const folder = path.join(root, "test/interop/peer/node_modules/@adcp/sdk/dist/lib/schemas-data/3.0");
  if (existsSync(folder)) return folder;
  console.log("skipped: the peer SDK is not installed (npm ci in test/interop/peer)");
  return undefined;
}
