/** What an entry of the package exports, read from the syntax alone: the checker would take seconds where this takes none. */
import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

/** One exported name, and what declares it: several nodes for overloads, or for a value and a type of one name. */
export interface Exported {
  readonly name: string;
  readonly nodes: readonly ts.Node[];
  /** File of the declaration, from the root. */
  readonly file: string;
}

export interface ParsedSources {
  file(name: string): ts.SourceFile;
}

/** Files below `root`, each parsed once. */
export function parsedSources(root: string): ParsedSources {
  const parsed = new Map<string, ts.SourceFile>();
  return {
    file(name) {
      const known = parsed.get(name);
      if (known !== undefined) return known;
      const text = readFileSync(path.join(root, name), "utf8");
      const tree = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
      parsed.set(name, tree);
      return tree;
    },
  };
}

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

const targetOf = (from: string, specifier: ts.Expression): string | undefined => {
  const text = (specifier as ts.StringLiteral).text;
  return text.startsWith(".") ? path.posix.join(path.posix.dirname(from), text).replace(/\.js$/, ".ts") : undefined;
};

/** Names that a statement declares, each with its node. */
function declared(statement: ts.Statement): [string, ts.Node][] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap((one): [string, ts.Node][] =>
      ts.isIdentifier(one.name)
        ? [[one.name.text, one]]
        : one.name.elements.flatMap((element): [string, ts.Node][] =>
            ts.isBindingElement(element) && ts.isIdentifier(element.name) ? [[element.name.text, element]] : [],
          ),
    );
  const named =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return named && statement.name !== undefined ? [[statement.name.text, statement]] : [];
}

/** The declaration of a name that a file knows: its own, or one that it imports. */
export function declarationsOf(sources: ParsedSources, file: string, name: string): Exported | undefined {
  const { statements } = sources.file(file);
  const own = statements.flatMap((statement) =>
    declared(statement).flatMap(([found, node]) => (found === name ? [node] : [])),
  );
  if (own.length > 0) return { name, nodes: own, file };
  for (const statement of statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue;
    const found = bindings.elements.find((element) => element.name.text === name);
    const target = found && targetOf(file, statement.moduleSpecifier);
    if (found !== undefined && target !== undefined)
      return resolved(sources, target, (found.propertyName ?? found.name).text);
  }
  return undefined;
}

const resolved = (sources: ParsedSources, file: string, name: string): Exported | undefined =>
  exportsOf(sources, file).find((one) => one.name === name);

function reexported(sources: ParsedSources, file: string, statement: ts.ExportDeclaration): Exported[] {
  const { moduleSpecifier, exportClause } = statement;
  const target = moduleSpecifier && targetOf(file, moduleSpecifier);
  if (moduleSpecifier !== undefined && target === undefined) return [];
  if (exportClause === undefined) return target === undefined ? [] : [...exportsOf(sources, target)];
  if (!ts.isNamedExports(exportClause)) return [];
  return exportClause.elements.flatMap((element) => {
    const inner = (element.propertyName ?? element.name).text;
    const found = target === undefined ? declarationsOf(sources, file, inner) : resolved(sources, target, inner);
    return found === undefined ? [] : [{ ...found, name: element.name.text }];
  });
}

const known = new WeakMap<ParsedSources, Map<string, Exported[]>>();

/** Every name that a file exports, in code point order. */
export function exportsOf(sources: ParsedSources, file: string): readonly Exported[] {
  const files = known.get(sources) ?? new Map<string, Exported[]>();
  known.set(sources, files);
  const before = files.get(file);
  if (before !== undefined) return before;
  const found = new Map<string, Exported>();
  files.set(file, []);
  for (const statement of sources.file(file).statements) {
    if (ts.isExportDeclaration(statement))
      for (const one of reexported(sources, file, statement)) found.set(one.name, one);
    else if (isExported(statement))
      for (const [name, node] of declared(statement))
        found.set(name, { name, nodes: [...(found.get(name)?.nodes ?? []), node], file });
  }
  const sorted = [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  files.set(file, sorted);
  return sorted;
}
