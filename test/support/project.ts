/** A user's project whose `adbind` is this one, so that generated code finds the contract. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { tempFolder } from "./release.js";

const root = path.resolve(import.meta.dirname, "../..");

/** An empty project: `adbind` is the sources here, for whoever resolves with the condition `adbind-source`. */
export function userProject(): string {
  const folder = tempFolder();
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(root, path.join(folder, "node_modules/adbind"));
  symlinkSync(path.join(root, "cli"), path.join(folder, "node_modules/adbind-cli"));
  writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
  return folder;
}

/** The same for plain node, which knows neither the condition nor how to read the sources: the named entries are built. */
export async function builtProject(entries: Readonly<Record<string, string>>): Promise<string> {
  const folder = tempFolder();
  const own = path.join(folder, "node_modules/adbind");
  const exports: Record<string, string> = {};
  for (const [entry, source] of Object.entries(entries)) {
    exports[`./${entry}`] = `./${entry}.js`;
    const outfile = path.join(own, `${entry}.js`);
    await build({ entryPoints: [path.join(root, source)], outfile, bundle: true, format: "esm", platform: "node" });
  }
  writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(path.join(own, "package.json"), JSON.stringify({ name: "adbind", type: "module", exports }));
  return folder;
}

export interface BundleOptions {
  /** Where the program stands, and its imports are found from. */
  readonly folder: string;
  readonly program: string;
}

/** A program as a browser would load it: one minified file. Anything of node in its graph is an error. */
export async function browserBundle({ folder, program }: BundleOptions): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: folder, loader: "ts" },
    ...{ bundle: true, minify: true, write: false, format: "esm", platform: "browser", logLevel: "silent" },
    conditions: ["adbind-source"],
  });
  return outputFiles[0]!.text;
}
