/** What runs keep for later ones: compiled sources, and what Node compiled of them. */
import { readdirSync, rmSync } from "node:fs";
import path from "node:path";

/** A whole run leaves some thousands, of which most are of generated trees in folders that are gone: 7 KiB each. */
const MOST_FILES = 40_000;

/** Empties a folder that holds more than any run uses; whoever reads it meanwhile compiles again. */
export function bound(folder: string, most = MOST_FILES): void {
  try {
    const files = readdirSync(folder, { recursive: true }).length;
    if (files > most) rmSync(folder, { recursive: true, force: true });
  } catch {
    // Not there yet, or another run empties it too.
  }
}

/** @param root of the repository. @returns the folder of what Node compiled */
export function keptCode(root: string): string {
  const [compiled, sources] = [path.join(root, ".cache/compiled"), path.join(root, ".cache/sources")];
  for (const folder of [compiled, sources]) bound(folder);
  return compiled;
}
