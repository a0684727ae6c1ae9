/** Strings of SQL that mean one thing or another by a setting of the server. */
import ts from "typescript";
import { lineOf, type Rule, type Source } from "./source.js";

/** A backslash between two quotes of SQL. */
const QUOTED = /'[^']*\\[^']*'/;

/** The text of a string or a template as it is sent; what is put in stands for itself. */
function sentText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join("?");
}

function backslashes({ path, tree }: Source) {
  const lines: number[] = [];
  const visit = (node: ts.Node): void => {
    if (QUOTED.test(sentText(node) ?? "")) lines.push(lineOf(tree!, node));
    ts.forEachChild(node, visit);
  };
  if (tree !== undefined) visit(tree);
  const message =
    "a backslash in a string of SQL is a character only where standard_conforming_strings is on: write it without";
  return lines.map((line) => ({ key: path, file: path, line, message }));
}

/** Where SQL is. Steps of the schema are applied under a setting of their own, and what they make is looked at in the database. */
const isOfSql = (path: string): boolean =>
  /^runtime\/(db|queue|store)\//.test(path) && !path.startsWith("runtime/db/postgres/schema/");

/** No statement depends on what a backslash is. */
export const backslashRule: Rule = (sources) => sources.filter(({ path }) => isOfSql(path)).flatMap(backslashes);
