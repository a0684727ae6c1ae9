/**
 * What a schema says of a value, without the language it says it in. A reader (`read-shape.ts`) makes one shape of every
 * schema of a release, once; types, documentation, comparisons of releases and other languages stand on shapes alone.
 *
 * A shape states what it states: where a value is not of the kind a shape speaks of, the shape refuses it, unless the
 * shape is `lenient`. Nothing in a shape is of TypeScript, and nothing needs JSON Schema to be understood:
 * lists of types are unions, boolean schemas are `any` and `never`, and what stands beside a reference is the other part
 * of an `all`.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What every shape carries. */
export interface ShapeNotes {
  /** Where it was read: `<path>`, or `<path>#<JSON pointer>`. */
  pointer: string;
  title?: string;
  /** As the release has it, whole. */
  description?: string;
  deprecated?: boolean;
  default?: Json;
  examples?: Json[];
  /** Annotations of the release's own, `x-*`. */
  extensions?: Record<string, Json>;
  /** What else a value must satisfy. No shape: kept for validators, documentation and comparison. */
  conditions?: Condition[];
  /** It speaks of values of its kind alone; a value of another kind passes (`properties` without `type: object`). */
  lenient?: boolean;
}

/** Demands that depend on the value, or are negative. */
export type Condition =
  | { kind: "if"; test: Shape; whenTrue?: Shape; whenFalse?: Shape }
  | { kind: "not"; shape: Shape }
  /** So many elements of an array are so, one at least where nothing else is said. */
  | { kind: "contains"; shape: Shape; least?: number; most?: number }
  /** Every name of an object is so. */
  | { kind: "names"; shape: Shape }
  /** An object with the property has these too. */
  | { kind: "needs"; property: string; properties: string[] }
  /** An object with the property is so, too. */
  | { kind: "entails"; property: string; shape: Shape };

/** Any value at all. */
export interface AnyShape extends ShapeNotes {
  kind: "any";
}

/** No value. */
export interface NeverShape extends ShapeNotes {
  kind: "never";
}

export type ScalarType = "string" | "number" | "integer" | "boolean" | "null";

export interface ScalarShape extends ShapeNotes {
  kind: "scalar";
  /** One at least; a value is of one of them. */
  types: ScalarType[];
  format?: string;
  /** An ECMAScript regular expression that is searched for in the text. */
  pattern?: string;
  /** Lengths in code points. */
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
}

/** One of a list of values. */
export interface EnumShape extends ShapeNotes {
  kind: "enum";
  values: Json[];
  /** What a value means, where the release says it, by the value's text. */
  meanings?: Record<string, string>;
}

/** One value. */
export interface ConstShape extends ShapeNotes {
  kind: "const";
  value: Json;
}

export interface Property {
  name: string;
  required: boolean;
  /** False for a name that is demanded where nothing says what it holds; its shape is `any` then. */
  declared: boolean;
  shape: Shape;
}

/** Names an object may have by their pattern, and what they hold. */
export interface Pattern {
  pattern: string;
  shape: Shape;
}

/** What an object may hold beside its properties. */
export interface Openness {
  /** `closed`: no other name. `open`: any other, of the shape `rest` where there is one. */
  openness: "closed" | "open";
  rest?: Shape;
  /** A closed object takes names that match, too. */
  patterns?: Pattern[];
  minProperties?: number;
  maxProperties?: number;
}

/** An object with names of its own. */
export interface ObjectShape extends ShapeNotes, Openness {
  kind: "object";
  /** By name, in code point order. */
  properties: Property[];
}

/** An object that declares no name: a map when it says what its values are, else any object. */
export interface MapShape extends ShapeNotes, Openness {
  kind: "map";
}

interface Bounds {
  minItems?: number;
  maxItems?: number;
  unique?: boolean;
}

export interface ArrayShape extends ShapeNotes, Bounds {
  kind: "array";
  items: Shape;
}

/** A list whose places have shapes of their own; it may be shorter than `items`, down to `minItems`. */
export interface TupleShape extends ShapeNotes, Bounds {
  kind: "tuple";
  items: Shape[];
  /** What stands after them: `never` closes the tuple. */
  rest: Shape;
}

/** The property that tells the members of a union apart. */
export interface Discriminator {
  property: string;
  /** Values of the property, a list for each member. */
  values: Json[][];
}

/** Alternatives: exactly one holds (`one`), or one at least (`any`). */
export interface UnionShape extends ShapeNotes {
  kind: "union";
  mode: "one" | "any";
  members: Shape[];
  discriminator?: Discriminator;
}

/** Everything at once. */
export interface AllShape extends ShapeNotes {
  kind: "all";
  parts: Shape[];
}

/** What stands at another place of the release. */
export interface ReferenceShape extends ShapeNotes {
  kind: "reference";
  /** `<path>`, or `<path>#<JSON pointer>`. */
  to: string;
}

export type Shape =
  | AnyShape
  | NeverShape
  | ScalarShape
  | EnumShape
  | ConstShape
  | ObjectShape
  | MapShape
  | ArrayShape
  | TupleShape
  | UnionShape
  | AllShape
  | ReferenceShape;

/** Gives the shape at `<path>` or `<path>#<JSON pointer>`; undefined where nothing was read. */
export type Resolve = (ref: string) => Shape | undefined;

/** Shapes directly inside a shape, conditions aside. `step` says how one is reached, for a person. */
export function eachInside(shape: Shape, visit: (inner: Shape, step: string) => void): void {
  switch (shape.kind) {
    case "object":
      for (const { name, shape: inner } of shape.properties) visit(inner, name);
      eachRest(shape, visit);
      return;
    case "map":
      eachRest(shape, visit);
      return;
    case "array":
      visit(shape.items, "item");
      return;
    case "tuple":
      for (const [index, inner] of shape.items.entries()) visit(inner, `item ${index + 1}`);
      visit(shape.rest, "rest");
      return;
    case "union":
      for (const member of shape.members) visit(member, "");
      return;
    case "all":
      for (const part of shape.parts) visit(part, "");
      return;
    case "any":
    case "never":
    case "scalar":
    case "enum":
    case "const":
    case "reference":
      return;
  }
}

function eachRest({ patterns, rest }: Openness, visit: (inner: Shape, step: string) => void): void {
  for (const { shape } of patterns ?? []) visit(shape, "value");
  if (rest !== undefined) visit(rest, "value");
}

/** Shapes that the conditions of a shape speak of. */
export function eachConditional({ conditions }: ShapeNotes, visit: (inner: Shape) => void): void {
  for (const condition of conditions ?? []) {
    if (condition.kind === "if") {
      visit(condition.test);
      if (condition.whenTrue !== undefined) visit(condition.whenTrue);
      if (condition.whenFalse !== undefined) visit(condition.whenFalse);
    } else if (condition.kind !== "needs") visit(condition.shape);
  }
}

/** What a shape demands at once: itself, what it refers to, and the parts of an `all`; each once. */
export function conjuncts(shape: Shape | undefined, resolve: Resolve, seen = new Set<Shape>()): Shape[] {
  if (shape === undefined || seen.has(shape)) return [];
  seen.add(shape);
  if (shape.kind === "reference") return [shape, ...conjuncts(resolve(shape.to), resolve, seen)];
  if (shape.kind === "all") return [shape, ...shape.parts.flatMap((part) => conjuncts(part, resolve, seen))];
  return [shape];
}
