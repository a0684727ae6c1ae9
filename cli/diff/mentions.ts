/** Every name that a project's own sources mention, and where: identifiers, keys, texts. Bindings and packages aside. */
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { Project, SyntaxKind } from "ts-morph";
import { namesOfTool } from "../../generator/emit/names.js";
import { AdbindError } from "../../runtime/errors.js";
import { userPath } from "../output.js";

export interface Mention {
  /** Relative to the project, `/` separated. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

export interface Mentions {
  readonly folder: string;
  /** Sources that were read. */
  readonly files: readonly string[];
  of(name: string): readonly Mention[];
  /** Places that mention a tool: by its name, or by what the bindings call it. */
  ofTool(tool: string): readonly Mention[];
}

/** What is the project's own: neither installed, built, nor emitted. */
const foreign = /(^|\/)(node_modules|dist|build|coverage|\.[^/]+)(\/|$)/;

/** Folders that `adbind generate` owns. */
const ownedFolders = (folder: string): string[] =>
  globSync("**/owned.json", { cwd: folder, exclude: (name) => name.includes("node_modules") }).map((file) =>
    path.dirname(file),
  );

function sourcesOf(folder: string): string[] {
  const owned = ownedFolders(folder);
  return globSync("**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}", {
    cwd: folder,
    exclude: (name) => /(^|[\\/])(node_modules|dist|build|coverage|\.[^\\/]+)$/.test(name),
  })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => !foreign.test(file) && !file.endsWith(".d.ts"))
    .filter((file) => !owned.some((one) => one === "." || file.startsWith(`${one.split(path.sep).join("/")}/`)))
    .sort();
}

const named = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.PrivateIdentifier,
]);

/**
 * Reads a project. Only the text is looked at: a name that is put together at run time is not seen.
 * @throws AdbindError usage for a folder that is not there, or has no source
 */
export function mentionsIn(given: string): Mentions {
  const folder = userPath(given);
  const files = existsSync(folder) ? sourcesOf(folder) : [];
  if (files.length === 0)
    throw new AdbindError("usage", "no source of a project is there", {
      where: given,
      remedy: "name the folder of a TypeScript or JavaScript project",
    });
  const project = new Project({
    useInMemoryFileSystem: true,
    skipLoadingLibFiles: true,
    skipFileDependencyResolution: true,
    compilerOptions: { allowJs: true },
  });
  const found = new Map<string, Mention[]>();
  for (const file of files) {
    const source = project.createSourceFile(`/${file}`, readFileSync(path.join(folder, file), "utf8"));
    source.forEachDescendant((node) => {
      if (!named.has(node.getKind())) return;
      const text = node.getText().replace(/^["'`]|["'`]$/g, "");
      const list = found.get(text) ?? [];
      const line = node.getStartLineNumber();
      if (list.at(-1)?.file !== file || list.at(-1)?.line !== line) list.push({ file, line });
      found.set(text, list);
    });
    project.removeSourceFile(source);
  }
  const of = (name: string): readonly Mention[] => found.get(name) ?? [];
  // `CreateMediaBuyRequest` and its kin: types of the bindings begin with the tool's name.
  const types = [...found.keys()].filter((name) => /^[A-Z]/.test(name));
  return {
    folder,
    files,
    of,
    ofTool(tool) {
      // The second is what it is called where another tool of its release has the first.
      const [own, beside] = [namesOfTool(tool), namesOfTool(tool, 1)];
      const { pascal } = own;
      const called = [own, beside].flatMap((names) => [names.ident, `handle${names.pascal}`]);
      const kin = types.filter(
        (name) =>
          new RegExp(`^${pascal}(Request|Response|Arms|Async|Handlers)?`).exec(name)?.[0].length === name.length ||
          name.startsWith(`${pascal}Async`) ||
          name.startsWith(`${pascal}Response`),
      );
      return [...new Set([tool, ...called, `${beside.pascal}Arms`, ...kin])].flatMap(of);
    },
  };
}
