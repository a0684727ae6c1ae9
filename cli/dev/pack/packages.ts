/** What this repository publishes: two packages of one version, what each is installed for, and what that may weigh. */
import { readFileSync } from "node:fs";
import path from "node:path";

/** Where the repository is. */
export const repository = path.resolve(import.meta.dirname, "../../..");

/** Names a package of this repository. */
export type PackageName = "adbind" | "adbind-cli";

/** As far as packing reads it. */
export interface PackageManifest {
  readonly name: PackageName;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** A package: where its package.json stands, and which built files nobody imports but loads by their place. */
export const packages: Readonly<
  Record<PackageName, { readonly manifest: string; readonly threads: readonly string[] }>
> = {
  adbind: { manifest: "package.json", threads: [] },
  "adbind-cli": { manifest: "cli/package.json", threads: ["cli/explorer/compare-thread.js"] },
};

/** Reads a package's package.json. */
export const manifestOf = (name: PackageName): PackageManifest =>
  JSON.parse(readFileSync(path.join(repository, packages[name].manifest), "utf8")) as PackageManifest;

/** Built files that a package starts from, below `dist/`: its exports, its commands, its threads. */
export function startsOf(name: PackageName): string[] {
  const { exports, bin } = manifestOf(name);
  const named = Object.values(exports).map((target) => (typeof target === "string" ? target : target.default!));
  const files = [...named, ...Object.values(bin)].filter((file) => file.endsWith(".js") && !file.includes("*"));
  return [...files.map((file) => file.replace(/^(?:\.\/)?dist\//, "")), ...packages[name].threads];
}

/** Somebody who installs, and what for. */
export interface Installation {
  /** As docs/install.md names it. */
  readonly what: string;
  readonly package: PackageName;
  /** Entries of the package that then load. */
  readonly entries: readonly string[];
  /** Peers it takes beside the package. */
  readonly peers: readonly string[];
  /** Most packages, and most megabytes of files (1,000,000 bytes). */
  readonly bounds?: { readonly packages: number; readonly megabytes: number };
}

/** Every use there is, with the peers it takes: what docs/install.md tells and what is measured. */
export const installations = JSON.parse(
  readFileSync(path.join(import.meta.dirname, "installations.json"), "utf8"),
) as readonly Installation[];
