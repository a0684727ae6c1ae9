/** What npm would install for some packages, by this repository's lock: as a fresh installation has it, without the network. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { repository } from "../../cli/dev/pack/packages.js";
import { bytesOf, type Weight } from "../../cli/dev/pack/weigh.js";

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const { packages } = JSON.parse(readFileSync(path.join(repository, "package-lock.json"), "utf8")) as {
  packages: Readonly<Record<string, Locked>>;
};

/** Where a package's import of another leads: its own node_modules, or one above. */
function placeOf(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.replace(/(^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, "")) {
    const place = path.posix.join(folder, "node_modules", name);
    if (packages[place] !== undefined) return place;
    if (folder === "") return undefined;
  }
}

/** What comes with a package. */
function wantedBy({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: Locked): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
  return [...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {}), ...peers];
}

/** The packages that come with some, and what their files weigh. Those of other platforms are not there, and not counted. */
export function closureWeight(names: readonly string[]): Weight {
  const places = new Set(names.map((name) => placeOf("", name) ?? name));
  for (const place of places) {
    if (packages[place] === undefined) throw new Error(`${place} is not in package-lock.json`);
    for (const name of wantedBy(packages[place])) {
      const found = placeOf(place, name);
      if (found !== undefined && existsSync(path.join(repository, found))) places.add(found);
    }
  }
  const bytes = [...places].map((place) => bytesOf(path.join(repository, place), ["node_modules"]));
  return { packages: places.size, bytes: bytes.reduce((sum, one) => sum + one, 0) };
}
