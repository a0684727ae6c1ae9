/** A schema as a function that judges by it: made of closures at the first value, never of code. */

import { nullableLetter, type SchemaKeywords, type SchemaNode, typesByLetter } from "../../contract/schema-node.js";
import { combinedChecks } from "./combined.js";
import { arrayChecks, objectChecks } from "./holders.js";
import { fail, inTurn, type NodeCheck } from "./run.js";
import { numberChecks, stringChecks, valueChecks } from "./values.js";

const isNumber = (data: unknown): boolean => typeof data === "number" && Number.isFinite(data);
const isPlain = (data: unknown): boolean => typeof data === "object" && data !== null && !Array.isArray(data);

type Letter = keyof typeof typesByLetter | typeof nullableLetter;

const typeTests: Record<Letter, (data: unknown) => boolean> = {
  s: (data) => typeof data === "string",
  n: isNumber,
  i: (data) => Number.isInteger(data),
  b: (data) => typeof data === "boolean",
  o: isPlain,
  a: Array.isArray,
  z: (data) => data === null,
  y: (data) => data === null,
};

const accept: NodeCheck = () => true;
const refuse: NodeCheck = (_, run) => fail(run, "false schema", "boolean schema is false");

function typeCheck(types: string): NodeCheck {
  const letters = [...types] as Letter[];
  const wanted = letters.flatMap((letter) => (letter === nullableLetter ? [] : [typesByLetter[letter]]));
  const message = `must be ${wanted.join(",")}`;
  const [first] = letters as [Letter];
  const test = typeTests[first];
  if (letters.length === 1) return (data, run) => test(data) || fail(run, "type", message);
  return (data, run) => letters.some((letter) => typeTests[letter](data)) || fail(run, "type", message);
}

/** SchemaKeywords by the type of value they look at, in the order they are asked. */
const groups: readonly {
  readonly type: Letter;
  readonly letters: string;
  readonly checks: (node: SchemaKeywords, of: (node: SchemaNode) => NodeCheck) => NodeCheck[];
}[] = [
  { type: "n", letters: "MmXxfF", checks: numberChecks },
  { type: "s", letters: "LkqF", checks: stringChecks },
  { type: "a", letters: "JjDiCvVu", checks: arrayChecks },
  { type: "o", letters: "GgrKAdpP", checks: objectChecks },
];

/** Values of one type go through its keywords; others pass, or are refused where the schema is for that type alone. */
function groupCheck(type: Letter, checks: readonly NodeCheck[], wrongType: NodeCheck | undefined): NodeCheck {
  const test = typeTests[type];
  const inner = checks.length === 0 ? accept : inTurn(checks);
  return (data, run) => (test(data) ? inner(data, run) : wrongType === undefined || wrongType(data, run));
}

function keywordsCheck(node: SchemaKeywords): NodeCheck {
  const { t: types } = node;
  const used = groups.filter(({ letters }) => [...letters].some((letter) => Object.hasOwn(node, letter)));
  // A type is asked where its keywords are, and before all others where it has none or there are several.
  const own = types?.length === 1 ? used.find(({ type }) => type === types) : undefined;
  const wrongType = types === undefined ? undefined : typeCheck(types);
  const checks: NodeCheck[] = wrongType !== undefined && own === undefined ? [wrongType] : [];
  if (node.R !== undefined) checks.push(checkOf(node.R));
  checks.push(...valueChecks(node), ...combinedChecks(node, checkOf));
  for (const group of used) {
    checks.push(groupCheck(group.type, group.checks(node, checkOf), group === own ? wrongType : undefined));
  }
  return checks.length === 0 ? accept : inTurn(checks);
}

/** Checks by schema: one that many refer to is made once. */
const made = new WeakMap<object, NodeCheck>();

/** The check of a schema. What it refers to is looked at when a value needs it, since schemas may refer to themselves. */
export function checkOf(node: SchemaNode): NodeCheck {
  if (typeof node === "boolean") return node ? accept : refuse;
  if (typeof node === "string") return typeCheck(node);
  const known = made.get(node);
  if (known !== undefined) return known;
  const check = typeof node === "function" ? referenceCheck(node) : keywordsCheck(node);
  made.set(node, check);
  return check;
}

function referenceCheck(target: () => SchemaNode): NodeCheck {
  let check: NodeCheck | undefined;
  return (data, run) => {
    check ??= checkOf(target());
    return check(data, run);
  };
}
