/** A project as an upgrade finds it: its bindings, the release they are of, and where that release lies. */
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ImportExtension } from "../../generator/emit/import-extension.js";
import { compareVersions } from "../../runtime/contract/version-order.js";
import { AdbindError } from "../../runtime/errors.js";
import { userPath } from "../output.js";
import { isExplorerSite } from "../release/explorer-site.js";

export interface ProjectBindings {
  /** Absolute: has one folder a release. */
  readonly out: string;
  readonly word: string;
  readonly version: string;
  readonly options: {
    readonly standalone?: boolean;
    readonly open?: boolean;
    readonly importExtension?: ImportExtension;
    readonly partial?: boolean;
  };
}

export interface UpgradedProject {
  /** Absolute. */
  readonly folder: string;
  /** The newest that the project has. */
  readonly bindings: ProjectBindings;
}

function bindingsIn(file: string): ProjectBindings | undefined {
  try {
    const { word, version, options = {} } = JSON.parse(readFileSync(file, "utf8")) as Partial<ProjectBindings>;
    if (typeof word !== "string" || typeof version !== "string" || isExplorerSite({ options })) return undefined;
    return { out: path.dirname(path.dirname(file)), word, version, options };
  } catch {
    return undefined;
  }
}

/** @throws AdbindError usage for a folder without bindings */
export function openProject(given: string): UpgradedProject {
  const folder = userPath(given);
  const files = existsSync(folder)
    ? globSync("**/owned.json", { cwd: folder, exclude: (name) => /(^|[\\/])(node_modules|dist)$/.test(name) })
    : [];
  const bindings = files
    .flatMap((file) => bindingsIn(path.join(folder, file)) ?? [])
    .sort((a, b) => compareVersions(a.version, b.version))
    .at(-1);
  if (bindings === undefined)
    throw new AdbindError("usage", "no bindings of adbind generate are in the project", {
      where: given,
      remedy: "name the folder of a project that has them, or generate them first",
    });
  return { folder, bindings };
}

/** What to call the release of the bindings: a folder beside the newer one, else its name. */
export function olderRelease({ bindings }: UpgradedProject, newer: string): string {
  const { word, version } = bindings;
  const beside = [path.join(path.dirname(newer), version), path.join(path.dirname(newer), `${version}.tgz`)];
  return beside.find((one) => existsSync(one)) ?? `${word}@${version}`;
}
