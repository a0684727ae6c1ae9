/** What is in a packed package, and what its files name. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { namedIn } from "../../cli/dev/pack/split.js";

/** Where a specifier stands: which file of a package names what. */
export interface NamedModule {
  readonly file: string;
  readonly specifier: string;
}

/** Files of a package, from its folder. */
export const filesIn = (own: string): string[] =>
  readdirSync(own, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(own, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith("node_modules"));

/** Every module that a package's JavaScript and declarations name. */
export const modulesNamed = (own: string): NamedModule[] =>
  filesIn(own)
    .filter((file) => file.startsWith("dist/") && /\.(js|d\.ts)$/.test(file))
    .flatMap((file) =>
      namedIn(readFileSync(path.join(own, file), "utf8")).map(({ specifier }) => ({ file, specifier })),
    );

/** `@scope/name` of `@scope/name/part`; undefined for what is no package's. */
export function packageOf(specifier: string): string | undefined {
  if (/^(node:|[./#])/.test(specifier)) return undefined;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
