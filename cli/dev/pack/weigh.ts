/** What an installation weighs: the packages below a node_modules, and the bytes of their files. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Installation, manifestOf, type PackageName } from "./packages.js";

/** What was installed. */
export interface Weight {
  readonly packages: number;
  /** Of files, in bytes; a disk keeps them in blocks, which takes more. */
  readonly bytes: number;
}

/** Bytes of a folder's files, links left out. @param skips names of folders that are not looked into */
export function bytesOf(folder: string, skips: readonly string[] = []): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.isFile()) bytes += lstatSync(place).size;
    else if (entry.isDirectory() && !skips.includes(entry.name)) bytes += bytesOf(place, skips);
  }
  return bytes;
}

/** Packages below a folder that has a node_modules, those in packages' own too. */
function installedIn(folder: string): string[] {
  const modules = path.join(folder, "node_modules");
  if (!existsSync(modules)) return [];
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith(".")
      ? []
      : name.startsWith("@")
        ? readdirSync(path.join(modules, name)).map((one) => `${name}/${one}`)
        : [name],
  );
  return names.flatMap((name) => {
    const place = path.join(modules, name);
    return [place, ...installedIn(place)];
  });
}

/** What stands in a project's node_modules. */
const weightOf = (project: string): Weight => ({
  packages: installedIn(project).length,
  bytes: bytesOf(path.join(project, "node_modules")),
});

/** Tarballs of both packages. */
export type Tarballs = Readonly<Record<PackageName, string>>;

/** Why an installation is not what it should be, beside what it weighs. */
export interface Weighed extends Weight {
  readonly faults: readonly string[];
}

/** Installs a package with its peers in an empty folder, loads its entries and weighs it. The folder is gone afterwards. */
export function weighInstallation(installation: Installation, tarballs: Tarballs): Weighed {
  const project = mkdtempSync(path.join(tmpdir(), "adbind-weigh-"));
  try {
    writeFileSync(path.join(project, "package.json"), '{"private":true,"type":"module"}');
    const { peerDependencies } = manifestOf("adbind");
    const peers = installation.peers.map((name) => `${name}@${peerDependencies[name]}`);
    const own = installation.package === "adbind" ? [tarballs.adbind] : [tarballs.adbind, tarballs["adbind-cli"]];
    const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", ["install", ...quiet, ...own, ...peers], { cwd: project, stdio: ["ignore", "ignore", "pipe"] });
    const weight = weightOf(project);
    return { ...weight, faults: [...loadFaults(installation, project), ...boundFaults(installation, weight)] };
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

function loadFaults({ package: name, entries }: Installation, cwd: string): string[] {
  const program = entries.map((entry) => `await import("${entry === "" ? name : `${name}/${entry}`}");`).join("\n");
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd,
    encoding: "utf8",
  });
  return status === 0 ? [] : [`an entry does not load: ${stderr}`];
}

/** Where a weight is over what its installation may have. */
export function boundFaults({ bounds }: Installation, { packages, bytes }: Weight): string[] {
  if (bounds === undefined) return [];
  return [
    ...(packages > bounds.packages ? [`${packages} packages, and ${bounds.packages} are the most`] : []),
    ...(bytes > bounds.megabytes * 1e6 ? [`${megabytes(bytes)} MB, and ${bounds.megabytes} MB are the most`] : []),
  ];
}

/** In megabytes of 1,000,000 bytes, with one decimal. */
export const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
