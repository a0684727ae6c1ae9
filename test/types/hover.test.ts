/** What an editor shows of a type: a person reads it in one look, for its members have names of their own. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { corpus } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";

/** Properties that a member of a union may show without a name of its own. */
const MAX_INLINE = 8;

/** Characters of a declaration, comments aside; lists of values are as long as the release has them. */
const MAX_LENGTH = 900;

/** Characters that are read twice without harm. */
const MAX_MEMBER = 100;

const root = path.resolve(import.meta.dirname, "../..");
const largest = path.join(corpus, "releases/3.2.4");
const source = existsSync(largest) ? largest : path.join(root, "manifests/3.1.0");

const out = tempFolder();
const { releases } = await generate([source], { out });
const folder = path.join(out, releases[0]!.version, "types");

const files = readdirSync(folder).map((file) => {
  const text = readFileSync(path.join(folder, file), "utf8");
  return { file, text, parsed: ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true) };
});

const aliases = files.flatMap(({ text, parsed }) =>
  parsed.statements.filter(ts.isTypeAliasDeclaration).map(({ name, type }) => {
    const shown = text
      .slice(type.pos, type.end)
      .replace(/\/\*\*[\s\S]*?\*\//g, "")
      .replace(/\s+/g, " ");
    return { name: name.text, type, shown };
  }),
);

const bare = (type: ts.TypeNode): ts.TypeNode => (ts.isParenthesizedTypeNode(type) ? bare(type.type) : type);

/** Types side by side, at any depth of unions and intersections. */
const membersOf = (type: ts.TypeNode): ts.TypeNode[] => {
  const inner = bare(type);
  return ts.isUnionTypeNode(inner) || ts.isIntersectionTypeNode(inner) ? inner.types.flatMap(membersOf) : [inner];
};

/** The same, of the unions in it only: a type may well be a named one and some fields of its own. */
const alternativesOf = (type: ts.TypeNode): ts.TypeNode[] => {
  const inner = bare(type);
  if (ts.isUnionTypeNode(inner)) return membersOf(inner);
  return ts.isIntersectionTypeNode(inner) ? inner.types.flatMap(alternativesOf) : [];
};

test("members of a union are named types, or short", () => {
  const long = aliases.flatMap(({ name, type }) =>
    alternativesOf(type)
      .filter((member) => ts.isTypeLiteralNode(member) && member.members.length > MAX_INLINE)
      .map(() => name),
  );
  assert.ok(aliases.length > 100, `${aliases.length} aliases`);
  assert.equal(long, []);
});

test("no declaration is longer than a person reads, lists of values aside", () => {
  const long = aliases
    .filter(({ type, shown }) => shown.length > MAX_LENGTH && !membersOf(type).every(ts.isLiteralTypeNode))
    .map(({ name, shown }) => `${name}: ${shown.length}`);
  assert.equal(long, []);
});

/** Members of lists that may not be empty, which are written as the first of them and the rest. */
function* repeated(node: ts.Node): Iterable<ts.TypeNode> {
  if (ts.isTupleTypeNode(node) && node.elements.some(ts.isRestTypeNode)) yield node.elements[0]!;
  for (const child of node.getChildren()) yield* repeated(child);
}

test("what a list that may not be empty holds has a name, or takes less than a line", () => {
  const members = files.flatMap(({ file, parsed }) => [...repeated(parsed)].map((member) => ({ file, member })));
  assert.ok(members.length > 100, `${members.length} such lists`);
  const long = members.filter(({ member }) => !ts.isTypeReferenceNode(member) && member.getText().length > MAX_MEMBER);
  assert.equal(
    long.map(({ file, member }) => `${file}: ${member.getText()}`),
    [],
  );
});

test.run();
