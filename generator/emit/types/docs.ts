/** Shape -> what an editor shows of it: the first sentence, then what the type itself cannot say. */
import { firstSentence } from "../../model/sentence.js";
import type { ArrayShape, EnumShape, ScalarShape, Shape, TupleShape } from "../../model/shape.js";

/** A comment ends where its text says so, unless it is kept from it. */
const plain = (text: string): string =>
  text
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .replaceAll("*/", "* /");

/** Code in a comment: in JSON and in regular expressions alike an escaped slash is a slash. */
const code = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").replaceAll("*/", "*\\/");

/** A default longer than this many characters is left to the schema. */
const MAX_DEFAULT = 120;

function* defaultLine({ default: value }: Shape): Generator<string> {
  const text = value === undefined ? undefined : JSON.stringify(value);
  if (text !== undefined && text.length <= MAX_DEFAULT) yield `@default ${code(text)}`;
}

const bounds = [
  "minimum",
  "exclusiveMinimum",
  "maximum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
] as const satisfies readonly (keyof ScalarShape)[];

function* scalarLines(shape: ScalarShape): Generator<string> {
  if (shape.format !== undefined) yield `@format ${code(shape.format)}`;
  if (shape.pattern !== undefined) yield `@pattern ${code(shape.pattern)}`;
  for (const bound of bounds) if (shape[bound] !== undefined) yield `@${bound} ${shape[bound]}`;
}

function* listLines({ minItems, maxItems, unique }: ArrayShape | TupleShape): Generator<string> {
  if (minItems !== undefined) yield `@minItems ${minItems}`;
  if (maxItems !== undefined) yield `@maxItems ${maxItems}`;
  if (unique === true) yield "@uniqueItems";
}

function* meaningLines({ values, meanings }: EnumShape): Generator<string> {
  for (const value of values) {
    const text = meanings?.[String(value)];
    if (text !== undefined) yield `- \`${code(String(value)).replaceAll("`", "'")}\`: ${plain(firstSentence(text))}`;
  }
}

/** Lines of a shape's comment; empty where there is nothing to say. */
export function docLines(shape: Shape): string[] {
  const sentence = shape.description === undefined ? "" : plain(firstSentence(shape.description));
  const lines = sentence === "" ? [] : [sentence];
  switch (shape.kind) {
    case "enum":
      lines.push(...meaningLines(shape));
      break;
    case "scalar":
      lines.push(...scalarLines(shape));
      break;
    case "array":
      if (shape.items.description !== undefined) lines.push(`Items: ${plain(firstSentence(shape.items.description))}`);
      lines.push(...listLines(shape));
      break;
    case "tuple":
      lines.push(...listLines(shape));
      break;
    case "any":
    case "never":
    case "const":
    case "object":
    case "map":
    case "union":
    case "all":
    case "reference":
      break;
  }
  lines.push(...defaultLine(shape));
  if (shape.deprecated === true) lines.push("@deprecated");
  return lines;
}
