/** The sources under the rules of the house: each file read and parsed once, its imports resolved to other files. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

/** A file as the rules take it; a test makes them up. */
export interface Text {
  /** From the root of the repository, `/` separated. */
  readonly path: string;
  readonly text: string;
}

export interface Import {
  /** A path without its ending (`runtime/json`) or a package's name, as it was written. */
  readonly target: string;
  /** The file behind it, when it is one of those that were read. */
  readonly file?: string;
  /** Erased by the compiler: `import type`, `export type ... from`, `typeof import(...)`. */
  readonly typeOnly: boolean;
  readonly line: number;
}

export interface Source extends Text {
  /** Not there for generated files, of which only text and imports are looked at. */
  readonly tree?: ts.SourceFile;
  readonly imports: readonly Import[];
}

/** What a rule found. `key` names it without a line, so that it is the same one after an edit above it. */
export interface Finding {
  readonly key: string;
  readonly file: string;
  readonly line: number;
  /** What is wrong and what to do about it. */
  readonly message: string;
  /** Where the rule is about a size: how large it is. */
  readonly size?: number;
}

export type Rule = (sources: readonly Source[]) => Finding[];

export const lineOf = (tree: ts.SourceFile, node: ts.Node): number =>
  tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;

/** The folder of a path, with its `/`. */
export const folderOf = (file: string): string => file.slice(0, file.lastIndexOf("/") + 1);

/** Names that stand for files of ours: `paths` of tsconfig.json and `imports` of package.json, from the root. */
export type Aliases = Readonly<Record<string, string>>;

const withoutEnding = (file: string): string => file.replace(/\.(js|ts)$/, "");

/** `#name/*` stands for whatever follows, as both of them write it. */
function aliased(specifier: string, aliases: Aliases): string | undefined {
  for (const [name, file] of Object.entries(aliases)) {
    if (name === specifier) return withoutEnding(file);
    const [before = "", after] = name.split("*");
    if (after !== undefined && specifier.startsWith(before) && specifier.endsWith(after))
      return withoutEnding(file.replace("*", specifier.slice(before.length, specifier.length - after.length)));
  }
  return undefined;
}

const written = (file: string, specifier: string, aliases: Aliases): string =>
  specifier.startsWith(".")
    ? withoutEnding(path.posix.join(path.posix.dirname(file), specifier))
    : (aliased(specifier, aliases) ?? specifier);

interface Mention {
  readonly specifier: ts.Node | undefined;
  readonly typeOnly: boolean;
}

/** What one node imports; undefined for a node that imports nothing. */
function mentioned(node: ts.Node): Mention | undefined {
  if (ts.isImportDeclaration(node)) {
    const typeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    return { specifier: node.moduleSpecifier, typeOnly };
  }
  if (ts.isExportDeclaration(node)) return { specifier: node.moduleSpecifier, typeOnly: node.isTypeOnly };
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    return { specifier: node.argument.literal, typeOnly: true };
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return { specifier: node.arguments[0], typeOnly: false };
  return undefined;
}

const behind = (target: string, { files }: Known): { file?: string } =>
  files.has(`${target}.ts`) ? { file: `${target}.ts` } : {};

/** What imports are resolved by. */
interface Known {
  readonly files: ReadonlySet<string>;
  readonly aliases: Aliases;
}

function importsOf(file: string, tree: ts.SourceFile, known: Known): Import[] {
  const found: Import[] = [];
  const visit = (node: ts.Node): void => {
    const mention = mentioned(node);
    if (mention?.specifier !== undefined && ts.isStringLiteral(mention.specifier)) {
      const target = written(file, mention.specifier.text, known.aliases);
      found.push({ target, ...behind(target, known), typeOnly: mention.typeOnly, line: lineOf(tree, node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** Imports of a generated file, by the scanner alone: parsing all of them would be half of the whole test. */
const scannedImports = ({ path: file, text }: Text, known: Known): Import[] =>
  ts.preProcessFile(text, true, false).importedFiles.map(({ fileName, pos }) => {
    const target = written(file, fileName, known.aliases);
    return { target, ...behind(target, known), typeOnly: false, line: text.slice(0, pos).split("\n").length };
  });

/** Comments are nobody's business here, and a tenth of the time. */
const parsing: ts.CreateSourceFileOptions = {
  languageVersion: ts.ScriptTarget.ES2023,
  jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
};

export function parse(texts: readonly Text[], aliases: Aliases = {}): Source[] {
  const known: Known = { files: new Set(texts.map((text) => text.path)), aliases };
  return texts.map((text): Source => {
    if (text.path.startsWith("generated/")) return { ...text, imports: scannedImports(text, known) };
    const tree = ts.createSourceFile(text.path, text.text, parsing, true);
    return { ...text, tree, imports: importsOf(text.path, tree, known) };
  });
}

/** Folders whose files are not ours to shape: packages, trees to compare with, what others generate, their peers. */
const aside = /(^|\/)(node_modules|golden)(\/|$)|^test\/interop\/peer\/|^docs\/examples\/outbox\/prisma\/client\//;

/** What an alias stands for: its first path, or the first of its conditions. */
const firstOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? firstOf(Object.values(value)[0]) : undefined;
};

/** The aliases of a repository, as `paths` of its tsconfig.json and `imports` of its package.json give them. */
export function readAliases(root: string): Aliases {
  const read = (name: string) => ts.readConfigFile(path.join(root, name), ts.sys.readFile).config as Config;
  interface Config {
    readonly compilerOptions?: { readonly paths?: object };
    readonly imports?: object;
  }
  const all = { ...read("package.json").imports, ...read("tsconfig.json").compilerOptions?.paths };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => {
      const file = firstOf(value);
      return file === undefined ? [] : [[name, path.posix.normalize(file)]];
    }),
  );
}

/** @returns paths of every TypeScript source of the repository, `generated/` included */
export const sourcePaths = (root: string): string[] =>
  globSync("{generator,generated,runtime,cli,bench,test,templates,docs/examples,docs/deploy}/**/*.ts", {
    cwd: root,
    exclude: (name) => name === "node_modules" || name === "golden",
  })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => !aside.test(file))
    .sort();

/** All of them, read and parsed: it takes seconds. */
export const readSources = (root: string): Source[] =>
  parse(
    sourcePaths(root).map((file) => ({ path: file, text: readFileSync(path.join(root, file), "utf8") })),
    readAliases(root),
  );
