/** A shape -> rows of a table: each field with its type, what it means and what it must be. */
import type { Property, Resolve, Shape, UnionShape } from "../model/shape.js";
import { conditionTexts } from "./conditions.js";
import { isExperimental, nameOfPath, notesOf, type TypePart, typeText, valueText } from "./type-text.js";

export interface FieldRow {
  /** A property's name; `item`, `any other name`, or what an alternative is called. */
  readonly name: string;
  /** Only a property has a name of the wire. */
  readonly kind: "property" | "item" | "rest" | "choice";
  /** Where it stands in the value, as deep links name it: `packages.-.budget`. */
  readonly at: string;
  readonly required?: true;
  readonly type: readonly TypePart[];
  readonly about?: string;
  readonly notes?: readonly string[];
  /** Values that it may have, where they are listed. */
  readonly values?: readonly { readonly value: string; readonly meaning?: string }[];
  readonly deprecated?: true;
  readonly experimental?: true;
  /** The schema that it comes from, where that is taken in whole. */
  readonly from?: string;
  readonly rows?: readonly FieldRow[];
}

export interface FieldTable {
  readonly title?: string;
  readonly about?: string;
  readonly type: readonly TypePart[];
  readonly notes: readonly string[];
  readonly values?: FieldRow["values"];
  readonly rows: readonly FieldRow[];
}

/** Levels of a schema that are shown on its own page; what stands deeper is named. */
const DEEPEST = 8;

interface Reading {
  readonly resolve: Resolve;
  /** Schemas that the top takes in whole are shown in it, and not named only. */
  readonly whole: boolean;
  readonly depth: number;
  /** Schemas that are being taken in, so that one that takes in itself ends. */
  readonly open: readonly string[];
}

const deeper = (reading: Reading): Reading => ({ ...reading, depth: reading.depth + 1 });

const step = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);

const valuesOf = (shape: Shape): FieldRow["values"] =>
  shape.kind !== "enum"
    ? undefined
    : shape.values.map((value) => {
        const meaning = shape.meanings?.[String(value)];
        return {
          value: typeof value === "string" ? value : valueText(value),
          ...(meaning !== undefined && { meaning }),
        };
      });

type Named = Pick<FieldRow, "name" | "kind" | "at"> & { readonly required?: boolean; readonly from?: string };

/** One row of a shape, with the rows inside it. */
function rowOf(shape: Shape, { required, from, ...named }: Named, reading: Reading): FieldRow {
  const inner = shape.kind === "array" && shape.items.kind !== "reference" ? shape.items : shape;
  const values = valuesOf(inner);
  const notes = [...notesOf(shape), ...conditionTexts(shape), ...allNotes(shape)];
  const about = shape.description ?? aboutOfAll(shape);
  const rows = reading.depth >= DEEPEST ? [] : rowsIn(shape, named.at, deeper(reading));
  return {
    ...named,
    ...(required && { required: true as const }),
    type: typeText(shape),
    ...(about !== undefined && { about }),
    ...(notes.length > 0 && { notes }),
    ...(values !== undefined && { values }),
    ...(shape.deprecated && { deprecated: true as const }),
    ...(isExperimental(shape) && { experimental: true as const }),
    ...(from !== undefined && { from }),
    ...(rows.length > 0 && { rows }),
  };
}

const allNotes = (shape: Shape): string[] =>
  shape.kind === "all"
    ? shape.parts.flatMap((part) =>
        part.kind === "reference" ? [] : [...notesOf(part), ...conditionTexts(part), ...allNotes(part)],
      )
    : [];

const aboutOfAll = (shape: Shape): string | undefined =>
  shape.kind === "all" ? shape.parts.find(({ description }) => description !== undefined)?.description : undefined;

const propertyRow = (property: Property, at: string, reading: Reading, from?: string): FieldRow =>
  rowOf(
    property.shape,
    {
      name: property.name,
      kind: "property",
      at: step(at, property.name),
      required: property.required,
      ...(from !== undefined && { from }),
    },
    reading,
  );

/** What an alternative is called: by what tells it apart, by its title, by the schema that it names. */
function choiceName(union: UnionShape, index: number): string {
  const member = union.members[index]!;
  const told = union.discriminator;
  if (told !== undefined && told.values[index]!.length > 0)
    return `${told.property}: ${told.values[index]!.map(valueText).join(", ")}`;
  if (member.title !== undefined) return member.title;
  return member.kind === "reference" ? nameOfPath(member.to) : `form ${index + 1}`;
}

const isPlain = ({ kind }: Shape): boolean =>
  kind === "reference" || kind === "scalar" || kind === "const" || kind === "any";

function unionRows(union: UnionShape, at: string, reading: Reading): FieldRow[] {
  // Alternatives that say all in their type need no rows.
  if (
    union.discriminator === undefined &&
    union.members.length <= 6 &&
    union.members.every((one) => isPlain(one) && one.description === undefined)
  )
    return [];
  return union.members.map((member, index) =>
    rowOf(member, { name: choiceName(union, index), kind: "choice", at: step(at, `~${index + 1}`) }, reading),
  );
}

/** Rows of what stands inside a shape. */
function rowsIn(shape: Shape, at: string, reading: Reading): FieldRow[] {
  switch (shape.kind) {
    case "object":
      return [...shape.properties.map((one) => propertyRow(one, at, reading)), ...restRows(shape, at, reading)];
    case "map":
      return restRows(shape, at, reading);
    case "array":
      return isPlain(shape.items) ? [] : rowsIn(shape.items, step(at, "-"), reading);
    case "tuple":
      return shape.items.map((item, index) =>
        rowOf(item, { name: `item ${index + 1}`, kind: "item", at: step(at, String(index)) }, reading),
      );
    case "union":
      return unionRows(shape, at, reading);
    case "all":
      return shape.parts.flatMap((part) => partRows(part, at, reading));
    case "any":
    case "never":
    case "scalar":
    case "enum":
    case "const":
      return [];
    case "reference":
      // A message that is another schema as it stands is shown as that.
      return reading.depth === 0 ? partRows(shape, at, reading) : [];
  }
}

/** What one part of a whole adds: at the top of a message a schema that is taken in is shown, with where it comes from. */
function partRows(part: Shape, at: string, reading: Reading): FieldRow[] {
  if (part.kind !== "reference") return rowsIn(part, at, reading);
  if (reading.depth > 0 || reading.open.includes(part.to)) return [];
  const named: FieldRow = { name: "everything of", kind: "rest", at: step(at, `&${part.to}`), type: typeText(part) };
  const target = reading.whole ? reading.resolve(part.to) : undefined;
  if (!reading.whole) return [named];
  if (target === undefined) return [];
  const inner = { ...reading, open: [...reading.open, part.to] };
  return rowsIn(target, at, inner).map((row) => ({ ...row, from: row.from ?? part.to }));
}

function restRows(shape: Extract<Shape, { kind: "object" | "map" }>, at: string, reading: Reading): FieldRow[] {
  const { rest, patterns = [] } = shape;
  const named = patterns.map(({ pattern, shape: inner }) =>
    rowOf(inner, { name: `names matching ${pattern}`, kind: "rest", at: step(at, `/${pattern}/`) }, reading),
  );
  const says = rest !== undefined && rest.kind !== "any" && (shape.kind === "object" || !isPlain(rest));
  return says ? [...named, rowOf(rest, { name: "any other name", kind: "rest", at: step(at, "*") }, reading)] : named;
}

/** A name that is demanded in one part and declared in another is one row. */
function merged(rows: readonly FieldRow[]): FieldRow[] {
  const kept = new Map<string, FieldRow>();
  for (const row of rows) {
    const key = row.kind === "property" ? row.name : `${row.kind} ${row.at} ${row.name}`;
    const known = kept.get(key);
    if (known === undefined) kept.set(key, row);
    else {
      const [more, less] = (row.about?.length ?? 0) > (known.about?.length ?? 0) ? [row, known] : [known, row];
      kept.set(key, { ...more, ...((more.required || less.required) && { required: true as const }) });
    }
  }
  return [...kept.values()];
}

/** Demanded names first, then the rest; each in the order of the release. */
const sorted = (rows: readonly FieldRow[]): FieldRow[] => [
  ...rows.filter(({ required }) => required),
  ...rows.filter(({ required }) => !required),
];

/**
 * What a page shows of a shape.
 * @param whole show what it takes in from other schemas too, as who writes a message wants it
 */
export function fieldTable(shape: Shape, resolve: Resolve, whole = false): FieldTable {
  const rows = sorted(merged(rowsIn(shape, "", { resolve, whole, depth: 0, open: [] })));
  const values = valuesOf(shape);
  return {
    ...(shape.title !== undefined && { title: shape.title }),
    ...(shape.description !== undefined && { about: shape.description }),
    type: typeText(shape),
    notes: [...notesOf(shape), ...conditionTexts(shape), ...allNotes(shape)],
    ...(values !== undefined && { values }),
    rows,
  };
}
