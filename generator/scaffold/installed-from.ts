/** What an existing project installs adbind from: its manifest is npm's and its owner's, and is changed where that was asked for. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import semver from "semver";

/** What was asked for, a path or a version range; nothing where nobody did. */
export interface InstalledFrom {
  readonly adbind?: string | undefined;
  readonly cli?: string | undefined;
}

export interface InstalledAnew {
  readonly changed: boolean;
  /** What is left to its owner. */
  readonly byHand: readonly string[];
}

/**
 * Has a project's manifest name what it was asked to install adbind from. Without that its own stays, and a range that lets in no
 * version of whoever writes the project's files is told.
 * @param version that of whoever writes them
 */
export function installFrom(folder: string, { adbind, cli }: InstalledFrom, version: string): InstalledAnew {
  const file = path.join(folder, "package.json");
  const before = readFileSync(file, "utf8");
  const byHand: string[] = [];
  let after = before;
  for (const [name, asked] of [
    ["adbind", adbind],
    ["adbind-cli", cli],
  ] as const) {
    const line = new RegExp(`("${name}"\\s*:\\s*)"([^"]*)"`);
    const there = line.exec(after)?.[2];
    const tooOld =
      there !== undefined &&
      semver.validRange(there) !== null &&
      !semver.satisfies(version, there, { includePrerelease: true });
    if (asked !== undefined && there !== undefined)
      after = after.replace(line, (_, head: string) => `${head}${JSON.stringify(asked)}`);
    else if (asked !== undefined || tooOld)
      byHand.push(`package.json: ${JSON.stringify(name)}: ${JSON.stringify(asked ?? `^${version}`)}, then npm install`);
  }
  if (after !== before) writeFileSync(file, after);
  return { changed: after !== before, byHand };
}
