/** Where a release is read from: a folder, or a .tgz of one. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { AdbindError } from "../../runtime/errors.js";

export interface ReleaseFiles {
  /** As the user named it. */
  readonly label: string;
  /** Content of a file by its path in the release (`/` separated), undefined when there is none. */
  read(file: string): Buffer | undefined;
  /** Every JSON file of the release but those under `bundled/`, which repeat the others; sorted. */
  list(): string[];
}

const remedy = "name a folder, or a .tgz of one, that has a manifest.json at its root";

const wanted = (file: string): boolean => file.endsWith(".json") && !file.split("/").includes("bundled");

const isFile = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;

function openFolder(label: string): ReleaseFiles {
  const root = path.resolve(label);
  return {
    label,
    read(file) {
      if (file.includes("\0")) return undefined;
      const full = path.join(root, file);
      // A reference must not lead out of the release, whatever its `..` say.
      if (full !== root && !full.startsWith(root + path.sep)) return undefined;
      return isFile(full) ? readFileSync(full) : undefined;
    },
    list: () =>
      readdirSync(root, { recursive: true, encoding: "utf8" })
        .map((file) => file.split(path.sep).join("/"))
        .filter(wanted)
        .sort(),
  };
}

/** Folder in the archive that holds the manifest: the archive's own top, or npm's `package/`. */
function rootOf(files: Iterable<string>): string | undefined {
  const depth = (file: string): number => file.split("/").length;
  const [manifest] = [...files]
    .filter((file) => path.posix.basename(file) === "manifest.json" && wanted(file))
    .sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
  return manifest?.slice(0, -"manifest.json".length);
}

async function openArchive(label: string): Promise<ReleaseFiles> {
  const { list } = await import("tar");
  const entries = new Map<string, Buffer>();
  const reads: Promise<void>[] = [];
  try {
    await list({
      file: label,
      onReadEntry(entry) {
        const name = entry.path.replace(/^\.\//, "");
        if (entry.type !== "File" || !wanted(name)) return;
        reads.push(entry.concat().then((chunk) => void entries.set(name, Buffer.from(chunk))));
      },
    });
    await Promise.all(reads);
  } catch (cause) {
    throw new AdbindError("release_unreadable", "the archive cannot be read", { where: label, remedy, cause });
  }
  const root = rootOf(entries.keys());
  if (root === undefined) {
    throw new AdbindError("release_unreadable", "no manifest.json in the archive", { where: label, remedy });
  }
  return {
    label,
    read: (file) => entries.get(root + path.posix.normalize(file)),
    list: () =>
      [...entries.keys()]
        .filter((file) => file.startsWith(root))
        .map((file) => file.slice(root.length))
        .sort(),
  };
}

/**
 * Opens a release for reading.
 * @param label path of a folder or of a .tgz / .tar / .tar.gz
 * @throws AdbindError release_unreadable
 */
export async function openRelease(label: string): Promise<ReleaseFiles> {
  if (!existsSync(label)) {
    throw new AdbindError("release_unreadable", "no such file or folder", { where: label, remedy });
  }
  if (isFile(label)) return openArchive(label);
  const files = openFolder(label);
  if (files.read("manifest.json") === undefined) {
    throw new AdbindError("release_unreadable", "no manifest.json in the folder", { where: label, remedy });
  }
  return files;
}
