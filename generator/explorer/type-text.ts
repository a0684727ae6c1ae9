/** A shape -> what a reader is told of its type in a few words, and of its bounds in others. */
import type { Json, ScalarShape, Shape, ShapeNotes } from "../model/shape.js";

/** Words of a type; what names another schema leads there. */
export type TypePart = string | { readonly text: string; readonly to: string };

const MOST_ALTERNATIVES = 6;

const list = (part: readonly TypePart[]): TypePart[] => ["list of ", ...part];

export const nameOfPath = (ref: string): string => {
  const [path = "", pointer] = ref.split("#");
  const file = path
    .split("/")
    .at(-1)!
    .replace(/\.json$/, "");
  return pointer === undefined ? file : `${file} ${pointer.split("/").at(-1)}`;
};

/** What a value is, in a few words. */
export function typeText(shape: Shape): TypePart[] {
  switch (shape.kind) {
    case "any":
      return ["anything"];
    case "never":
      return ["nothing"];
    case "scalar":
      return [scalarText(shape)];
    case "enum":
      return [shape.values.length === 1 ? "one value" : `one of ${shape.values.length} values`];
    case "const":
      return [valueText(shape.value)];
    case "object":
      return ["object"];
    case "map":
      return shape.rest === undefined ? ["object"] : ["map of ", ...typeText(shape.rest)];
    case "array":
      return list(typeText(shape.items));
    case "tuple":
      return [`list of ${shape.items.length} places`];
    case "union":
      return alternatives(shape.members);
    case "all":
      return together(shape.parts);
    case "reference":
      return [{ text: nameOfPath(shape.to), to: shape.to }];
  }
}

const scalarText = ({ types, format }: ScalarShape): string => {
  const text = types.join(" or ");
  return format === undefined ? text : `${text} (${format})`;
};

const plainText = (parts: readonly TypePart[]): string =>
  parts.map((part) => (typeof part === "string" ? part : part.text)).join("");

function alternatives(members: readonly Shape[]): TypePart[] {
  const texts = new Map(members.map((member) => [plainText(typeText(member)), typeText(member)]));
  if (texts.size > MOST_ALTERNATIVES) return [`one of ${members.length} forms`];
  if (texts.size === 1 && members.length > 1) return [...texts.values()][0]!;
  return [...texts.values()].flatMap((text, index) => (index === 0 ? text : [" or ", ...text]));
}

/** Of what holds at once a reference says most; a part that only adds demands says nothing of the type. */
function together(parts: readonly Shape[]): TypePart[] {
  const named = parts.filter(({ kind }) => kind === "reference");
  const [said] = named.length > 0 ? named : parts.filter(({ kind }) => kind !== "any");
  return said === undefined ? ["anything"] : typeText(said);
}

export const valueText = (value: Json): string => {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};

const range = (least: number | undefined, most: number | undefined, what: string): string[] => {
  const unit = (count: number | undefined): string => (what === "" ? "" : ` ${what}${count === 1 ? "" : "s"}`);
  if (least !== undefined && least === most) return [`exactly ${least}${unit(least)}`];
  return [
    ...(least === undefined || (least === 0 && what !== "") ? [] : [`at least ${least}${unit(least)}`]),
    ...(most === undefined ? [] : [`at most ${most}${unit(most)}`]),
  ];
};

function scalarNotes(shape: ScalarShape): string[] {
  return [
    ...range(shape.minLength, shape.maxLength, "character"),
    ...range(shape.minimum, shape.maximum, ""),
    ...(shape.exclusiveMinimum === undefined ? [] : [`above ${shape.exclusiveMinimum}`]),
    ...(shape.exclusiveMaximum === undefined ? [] : [`below ${shape.exclusiveMaximum}`]),
    ...(shape.multipleOf === undefined ? [] : [`a multiple of ${shape.multipleOf}`]),
    ...(shape.pattern === undefined ? [] : [`matches ${shape.pattern}`]),
  ];
}

/** What a shape says beside its type. */
export function notesOf(shape: Shape): string[] {
  const own = ((): string[] => {
    switch (shape.kind) {
      case "scalar":
        return scalarNotes(shape);
      case "array":
        return [
          ...range(shape.minItems, shape.maxItems, "item"),
          ...(shape.unique ? ["no item twice"] : []),
          ...itemNotes(shape.items),
        ];
      case "tuple":
        return range(shape.minItems, shape.maxItems, "item");
      case "object":
      case "map":
        return [
          ...range(shape.minProperties, shape.maxProperties, "name"),
          ...(shape.openness === "closed" && shape.kind === "object" ? ["no other names"] : []),
          ...(shape.patterns ?? []).map(({ pattern }) => `names match ${pattern}`),
        ];
      case "union":
        return shape.mode === "any" ? ["at least one of the forms holds"] : [];
      case "any":
      case "never":
      case "enum":
      case "const":
      case "all":
      case "reference":
        return [];
    }
  })();
  return [...own, ...(shape.default === undefined ? [] : [`${valueText(shape.default)} when left out`])];
}

const itemNotes = (items: Shape): string[] =>
  items.kind === "scalar" ? scalarNotes(items).map((note) => `each ${note}`) : [];

/** Whether the release marks it as one that may change. */
export const isExperimental = ({ extensions }: ShapeNotes): boolean => extensions?.["x-status"] === "experimental";
