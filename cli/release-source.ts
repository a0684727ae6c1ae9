/** Which release `--release` means. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { AdbindError } from "../runtime/errors.js";
import { userPath } from "./output.js";

/** Releases that come with the package stand beside `cli/` in the sources, and one level higher beside `dist/`. */
function manifestsFolder(): string {
  const candidates = ["../manifests", "../../manifests"].map((one) => path.resolve(import.meta.dirname, one));
  return candidates.find(existsSync) ?? candidates[0]!;
}

/**
 * A folder or an archive as given; else a version that comes with the package; the newest one by default.
 * @throws AdbindError `usage`
 */
export function releaseSource(given: string | undefined): string {
  const folder = manifestsFolder();
  const versions = readdirSync(folder)
    .filter((name) => existsSync(path.join(folder, name, "manifest.json")))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  if (given === undefined) return path.join(folder, versions.at(-1)!);
  if (existsSync(userPath(given))) return userPath(given);
  if (versions.includes(given)) return path.join(folder, given);
  throw new AdbindError("usage", "there is no such release", {
    where: given,
    remedy: `give a folder, a .tgz, or one of ${versions.join(", ")}`,
  });
}
