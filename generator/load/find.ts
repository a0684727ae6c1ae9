/**
 * Which folders of a tree hold a release. A bundle has a list of its contents at the top, by the same name as the manifest
 * below it: what a file is, its shape says.
 */
import { AdbindError } from "../../runtime/errors.js";
import { readJson } from "./read-json.js";
import { isMap } from "./walk.js";

/** A folder or an archive, as far as looking for manifests needs it; paths are `/` separated, the top is "". */
export interface Tree {
  /** As the user named it. */
  readonly label: string;
  read(file: string): Buffer | undefined;
  /** Names of the folders directly in a folder. */
  folders(at: string): string[];
}

/** Levels below the given place that are looked through: `<folder>/<word>/<version>/<bundle>/schemas` is the deepest known. */
const MAX_LEVELS = 4;

/** Folders looked through before we say that the place is none of releases. */
const MAX_FOLDERS = 5000;

/** What a manifest.json is: a release's; one gone wrong, whose own faults say more than "not found"; another of that name. */
type Kind = "release" | "doubtful" | "other";

/** Judges a manifest.json by its shape. */
export function manifestKindOf(bytes: Buffer | undefined): Kind | undefined {
  if (bytes === undefined) return undefined;
  const { value } = readJson(bytes, "manifest.json");
  if (!isMap(value)) return "doubtful";
  const has = ["tools", "error_codes"].filter((key) => Object.hasOwn(value, key)).length;
  return has === 2 ? "release" : has === 1 ? "doubtful" : "other";
}

export const join = (at: string, name: string): string => (at === "" ? name : `${at}/${name}`);

export interface FoundManifests {
  /** Folders that hold a release, in the order of their names. */
  releases: string[];
  /** manifest.json files that are none of a release, and have none of one below them. */
  others: string[];
}

/** A file or folder that is never part of a release, by its own name. */
export const isHidden = (name: string): boolean => name.startsWith(".") || name === "node_modules";

class Search {
  readonly found: FoundManifests = { releases: [], others: [] };
  private looked = 0;

  constructor(private readonly tree: Tree) {}

  /** Looks through a folder and, where it is no release itself, those inside it. */
  visit(at: string, levels: number): void {
    this.looked += 1;
    if (this.looked > MAX_FOLDERS) {
      throw new AdbindError("release_unreadable", `no release among the first ${MAX_FOLDERS} folders`, {
        where: this.tree.label,
        remedy: "name a folder closer to the releases",
      });
    }
    const [own, inner] = [join(at, "manifest.json"), join(at, "schemas/manifest.json")];
    const [kind, innerKind] = [manifestKindOf(this.tree.read(own)), manifestKindOf(this.tree.read(inner))];
    if (kind === "release" && innerKind === "release") {
      throw new AdbindError("release_ambiguous", `${own} and ${inner} are both manifests of a release`, {
        where: this.tree.label,
        remedy: "name the one that is meant",
      });
    }
    if (kind === "release") return void this.found.releases.push(at);
    if (innerKind === "release") return void this.found.releases.push(join(at, "schemas"));
    if (kind === "doubtful") return void this.found.releases.push(at);
    if (innerKind === "doubtful") return void this.found.releases.push(join(at, "schemas"));
    const before = this.found.releases.length;
    if (levels > 0) {
      for (const name of this.tree.folders(at).sort())
        if (!isHidden(name) && name !== "bundled") this.visit(join(at, name), levels - 1);
    }
    if (kind === "other" && this.found.releases.length === before) this.found.others.push(own);
  }
}

/**
 * The releases in a tree.
 * @throws AdbindError release_ambiguous, release_unreadable
 */
export function findManifests(tree: Tree): FoundManifests {
  const search = new Search(tree);
  search.visit("", MAX_LEVELS);
  return search.found;
}
