/** Every published suite of the corpus that adbind answers for, each case under the facts of its own release. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { corpus } from "../support/corpus.js";
import { wholeReleaseIn } from "../support/whole-release.js";
import { brandResponses } from "./brand-responses.js";
import { bodyIntegrity, canonicalization, methodNames } from "./capability-suites.js";
import { errorRecovery } from "./error-recovery.js";
import { receiverEnvelope } from "./receiver-envelope.js";
import { requestSigning, webhookSigning } from "./signing-suites.js";
import type { Folder, VectorGroup } from "./types.js";

/** The words a case runs under: the published one, and one of nobody's. */
export const words = ["adcp", "proto"] as const;

const makers = [
  requestSigning,
  webhookSigning,
  canonicalization,
  bodyIntegrity,
  methodNames,
  brandResponses,
  errorRecovery,
  receiverEnvelope,
];

/** Every group; none where there is no corpus. */
export async function publishedGroups(): Promise<VectorGroup[]> {
  const compliance = path.join(corpus, "compliance");
  if (!existsSync(compliance)) return [];
  const folders: Folder[] = [];
  for (const label of readdirSync(compliance).sort()) {
    const at = path.join(compliance, label, "test-vectors");
    const own = path.join(corpus, "releases", label);
    if (existsSync(at) && existsSync(own)) folders.push({ at, label, release: (await wholeReleaseIn(own)).release });
  }
  // The folder without a number was published with the 3.1 line.
  const line = folders.find(({ label }) => label.startsWith("3.1."));
  if (line !== undefined) folders.push({ at: path.join(corpus, "vectors"), label: "vectors", release: line.release });
  const groups: VectorGroup[] = [];
  for (const folder of folders) for (const make of makers) groups.push(...(await make(folder)));
  return groups;
}
