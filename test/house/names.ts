/** One meaning a name, one place for each list and each engine. */
import ts from "typescript";
import { type Finding, lineOf, type Rule, type Source } from "./source.js";

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

const boundNames = (name: ts.BindingName): string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element.name) : []));

/** Local names of what a file imports by name: exporting those passes another's declaration on. */
const imported = (tree: ts.SourceFile): Set<string> =>
  new Set(
    tree.statements.filter(ts.isImportDeclaration).flatMap(({ importClause }) => {
      const bindings = importClause?.namedBindings;
      return bindings !== undefined && ts.isNamedImports(bindings)
        ? bindings.elements.map(({ name }) => name.text)
        : [];
    }),
  );

/** Names that a statement declares and exports; what it passes on from elsewhere is another's. */
function declared(statement: ts.Statement, others: ReadonlySet<string>): string[] {
  if (ts.isExportDeclaration(statement)) {
    const clause = statement.exportClause;
    if (statement.moduleSpecifier !== undefined || clause === undefined || !ts.isNamedExports(clause)) return [];
    return clause.elements
      .filter(({ name, propertyName }) => !others.has((propertyName ?? name).text))
      .map(({ name }) => name.text);
  }
  if (!isExported(statement)) return [];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name));
  const { name } = statement as ts.Statement & { name?: ts.Node };
  return name !== undefined && ts.isIdentifier(name) ? [name.text] : [];
}

const inScope = (parts: string) => {
  const pattern = new RegExp(`^(${parts})/`);
  return (sources: readonly Source[]): (Source & { tree: ts.SourceFile })[] =>
    sources.flatMap((source) =>
      source.tree !== undefined && pattern.test(source.path) ? [{ ...source, tree: source.tree }] : [],
    );
};

/** One file of each engine's folder declares the same names: they are the two sides of one port. */
const twin = (path: string): string => path.replace(/\/(sqlite|postgres|nats)\//, "/<engine>/");

/** In generator, runtime and cli an exported name is declared in one file only; the engines' twins count once. */
export const duplicateNamesRule: Rule = (sources) => {
  const places = new Map<string, Map<string, number>>();
  for (const { path, tree } of inScope("generator|runtime|cli")(sources))
    for (const statement of tree.statements)
      for (const name of declared(statement, imported(tree))) {
        const files = places.get(name) ?? new Map<string, number>();
        if (!files.has(path)) files.set(path, lineOf(tree, statement));
        places.set(name, files);
      }
  return [...places].flatMap(([name, files]) => {
    const [first, ...others] = [...files].map(([file, line]) => ({ file, line }));
    if (first === undefined || new Set([...files.keys()].map(twin)).size === 1) return [];
    const elsewhere = others.map(({ file, line }) => `${file}:${line}`).join(", ");
    const message = `exports ${name}, and so does ${elsewhere}: one name, one thing; rename one, or import it`;
    return [{ key: name, ...first, size: files.size, message }];
  });
};

/** Where an engine may be named: its own folder or file in db, store and queue. The lists of them are exceptions. */
const engineFolder = /^runtime\/(db|store|queue)\/([^/]+\/)*(sqlite|postgres|nats)(\/|\.ts$)/;

/** A word for an engine, as its URLs, packages and folders have it. "PostgreSQL" in a sentence is for people. */
const engineWord =
  /\b(sqlite|postgres|postgresql|pg-boss|better-sqlite3)\b|\bSQLITE_|^pg$|^\.\.?\/(.*\/)?nats(\/|\.js$)/;

/** SQL that one engine knows and the other does not. */
const engineSql = new RegExp(
  [
    "\\bskip locked\\b|\\bfor (no key )?(update|share)\\b|\\bpg_\\w+|\\bregclass\\b|\\b(nextval|currval|unnest|clock_timestamp)\\(",
    "\\bextract\\(epoch\\b|\\blateral\\b|\\bjsonb_\\w+\\(|= any ?\\(|::(text|bigint|int|integer|bytea|jsonb?|boolean|oid)\\b",
    "\\bpragma \\w|\\bjson_each\\(|\\bsqlite_\\w+|\\browid\\b|\\bunixepoch\\(|\\binsert or (ignore|replace)\\b",
  ].join("|"),
);

/** What a text of the code says, as it is given: of a template or a regular expression, each piece. */
function writtenText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
    return node.text;
  return ts.isRegularExpressionLiteral(node) ? node.text : undefined;
}

const namesEngine = (node: ts.Node): boolean => {
  if (ts.isIdentifier(node)) return /sqlite|postgres/i.test(node.text);
  const text = writtenText(node);
  return text !== undefined && (engineWord.test(text) || engineSql.test(text));
};

/** The door of a package's entry passes on what engines offer. */
const passesOn = (node: ts.Node): boolean => ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined;

/**
 * In runtime, generator, cli and templates no name, literal or import tells one database from another outside
 * the engines' folders; what an index passes on with `export ... from` is aside.
 */
export const dialectRule: Rule = (sources) =>
  inScope("runtime|generator|cli|templates")(sources).flatMap(({ path, tree }) => {
    if (engineFolder.test(path)) return [];
    const lines = new Set<number>();
    const visit = (node: ts.Node): void => {
      if (passesOn(node)) return;
      if (namesEngine(node)) lines.add(lineOf(tree, node));
      ts.forEachChild(node, visit);
    };
    visit(tree);
    const [line] = lines;
    if (line === undefined) return [];
    const where = [...lines].join(", ");
    const message = `names an engine in lines ${where}: what differs between databases stands in the engine's folder`;
    return [{ key: path, file: path, line, size: lines.size, message }];
  });

/** Texts of `[...]`, of the keys of `{...}`, or of the members of `a | b`. */
function textsOf(node: ts.Node): string[] {
  const text = (one: ts.Node | undefined): string[] =>
    one !== undefined && (ts.isStringLiteralLike(one) || ts.isIdentifier(one)) ? [one.text] : [];
  if (ts.isArrayLiteralExpression(node)) return node.elements.filter(ts.isStringLiteralLike).flatMap(text);
  if (ts.isObjectLiteralExpression(node)) return node.properties.flatMap(({ name }) => text(name));
  if (ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node))
    return node.members.flatMap(({ name }) => text(name));
  if (ts.isUnionTypeNode(node))
    return node.types.flatMap((one) => (ts.isLiteralTypeNode(one) ? text(one.literal) : []));
  return [];
}

const inContract = /^runtime\/contract(\.ts|\/)/;

/** The statuses of a task, read where they are declared. */
function taskStatuses(sources: readonly Source[]): ReadonlySet<string> {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && !/^(task|interim|terminal)Statuses$/.test(node.name.getText())) return;
    if (ts.isArrayLiteralExpression(node)) found.push(...textsOf(node));
    ts.forEachChild(node, visit);
  };
  for (const { path, tree } of sources)
    if (tree !== undefined && inContract.test(path)) tree.statements.filter(ts.isVariableStatement).forEach(visit);
  if (found.length === 0)
    throw new Error("runtime/contract declares no taskStatuses: tell test/house/names.ts where they went");
  return new Set(found);
}

/**
 * In generator, runtime, cli and templates no array, object, interface or union names three or more of the
 * task's statuses, but the contract's own. A `switch` over all of them is no list: the compiler keeps it whole.
 */
export const statusListRule: Rule = (sources) => {
  const statuses = taskStatuses(sources);
  return inScope("generator|runtime|cli|templates")(sources).flatMap(({ path, tree }) => {
    const found: Finding[] = [];
    const visit = (node: ts.Node): void => {
      const named = [...new Set(textsOf(node))].filter((text) => statuses.has(text));
      if (named.length >= 3) {
        const message = `lists task statuses (${named.join(", ")}): derive the list from runtime/contract`;
        found.push({ key: path, file: path, line: lineOf(tree, node), message });
      }
      ts.forEachChild(node, visit);
    };
    if (!inContract.test(path)) visit(tree);
    return found;
  });
};
