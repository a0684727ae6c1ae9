/**
 * Schemas as data, as `generate --standalone` emits them: JSON schema with a letter for each keyword, and references as
 * functions. Nothing is parsed and no code is made of them, so they work where `new Function` is forbidden; and a schema
 * that many share is there once.
 */

/** A schema: true accepts everything, false nothing; a text is types alone; a function refers to another schema. */
export type SchemaNode = boolean | string | (() => SchemaNode) | SchemaKeywords;

/** Types by letter. A text of several accepts any of them. */
export const typesByLetter = {
  s: "string",
  n: "number",
  i: "integer",
  b: "boolean",
  o: "object",
  a: "array",
  z: "null",
} as const;

/** The type that `nullable: true` adds: null passes, and is not named among what was wanted. */
export const nullableLetter = "y";

/** The keywords of draft-07 that assert something, and the counts of later drafts, in the order they are asked. */
export interface SchemaKeywords {
  /** type */
  readonly t?: string;
  /** $ref beside other keywords */
  readonly R?: () => SchemaNode;
  /** const */
  readonly c?: unknown;
  /** enum */
  readonly e?: readonly unknown[];
  /** not */
  readonly N?: SchemaNode;
  /** anyOf */
  readonly a?: readonly SchemaNode[];
  /** oneOf */
  readonly o?: readonly SchemaNode[];
  /** allOf */
  readonly l?: readonly SchemaNode[];
  /** if */
  readonly I?: SchemaNode;
  /** then */
  readonly T?: SchemaNode;
  /** else */
  readonly E?: SchemaNode;
  /** maximum */
  readonly M?: number;
  /** minimum */
  readonly m?: number;
  /** exclusiveMaximum */
  readonly X?: number;
  /** exclusiveMinimum */
  readonly x?: number;
  /** multipleOf */
  readonly f?: number;
  /** maxLength */
  readonly L?: number;
  /** minLength */
  readonly k?: number;
  /** pattern */
  readonly q?: string;
  /** format */
  readonly F?: string;
  /** maxProperties */
  readonly G?: number;
  /** minProperties */
  readonly g?: number;
  /** required: names; a number is the place of the name in `p` */
  readonly r?: readonly (string | number)[];
  /** propertyNames */
  readonly K?: SchemaNode;
  /** additionalProperties */
  readonly A?: SchemaNode;
  /** dependencies */
  readonly d?: Readonly<Record<string, SchemaNode | readonly string[]>>;
  /** properties */
  readonly p?: Readonly<Record<string, SchemaNode>>;
  /** patternProperties */
  readonly P?: Readonly<Record<string, SchemaNode>>;
  /** maxItems */
  readonly J?: number;
  /** minItems */
  readonly j?: number;
  /** additionalItems */
  readonly D?: SchemaNode;
  /** items: of every item, or of each in its place */
  readonly i?: SchemaNode | readonly SchemaNode[];
  /** contains */
  readonly C?: SchemaNode;
  /** minContains */
  readonly v?: number;
  /** maxContains */
  readonly V?: number;
  /** uniqueItems */
  readonly u?: boolean;
}

/** Letters by keyword. */
export const keywordLetters = {
  type: "t",
  $ref: "R",
  const: "c",
  enum: "e",
  not: "N",
  anyOf: "a",
  oneOf: "o",
  allOf: "l",
  if: "I",
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema; nothing awaits the table
  then: "T",
  else: "E",
  maximum: "M",
  minimum: "m",
  exclusiveMaximum: "X",
  exclusiveMinimum: "x",
  multipleOf: "f",
  maxLength: "L",
  minLength: "k",
  pattern: "q",
  format: "F",
  maxProperties: "G",
  minProperties: "g",
  required: "r",
  propertyNames: "K",
  additionalProperties: "A",
  dependencies: "d",
  properties: "p",
  patternProperties: "P",
  maxItems: "J",
  minItems: "j",
  additionalItems: "D",
  items: "i",
  contains: "C",
  minContains: "v",
  maxContains: "V",
  uniqueItems: "u",
} as const satisfies Record<string, keyof SchemaKeywords>;
