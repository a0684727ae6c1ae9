/** JSON schema -> fast-check: as much of it as the API document uses. */
import fc from "fast-check";
import type { JsonSchema } from "../../runtime/registry/server/document.js";

const text = ({ minLength = 0, maxLength = 40, pattern, format, enum: values }: JsonSchema): fc.Arbitrary<unknown> => {
  if (Array.isArray(values)) return fc.constantFrom(...(values as string[]));
  if (format === "uuid") return fc.uuid();
  if (typeof pattern === "string") return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength: minLength as number, maxLength: Math.min(maxLength as number, 60), unit: "grapheme" });
};

/** Some values that the schema allows; `known` are values worth meeting, by name of the field. */
export function validOf(
  schema: JsonSchema,
  known: Readonly<Record<string, readonly unknown[]>>,
  name = "",
): fc.Arbitrary<unknown> {
  const pool = known[name];
  const fresh = freshOf(schema, known, name);
  return pool === undefined
    ? fresh
    : fc.oneof({ arbitrary: fc.constantFrom(...pool), weight: 3 }, { arbitrary: fresh, weight: 1 });
}

function freshOf(
  schema: JsonSchema,
  known: Readonly<Record<string, readonly unknown[]>>,
  name: string,
): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case "string":
      return text(schema);
    case "integer":
      return fc.integer({ min: (schema.minimum as number) ?? -1_000, max: (schema.maximum as number) ?? 1_000_000 });
    case "boolean":
      return fc.boolean();
    case "array": {
      const items = validOf(schema.items ?? {}, known, name);
      return fc.array(items, { minLength: (schema.minItems as number) ?? 0, maxLength: 5 });
    }
    case "object":
      return objectOf(schema, known);
    default:
      return fc.jsonValue();
  }
}

function objectOf(schema: JsonSchema, known: Readonly<Record<string, readonly unknown[]>>): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, one]) => [name, validOf(one, known, name)]),
  );
  const choices = (schema.oneOf as { required: string[] }[] | undefined) ?? [{ required: [] }];
  return fc.oneof(
    ...choices.map(({ required }) => {
      const others = choices.flatMap((choice) => choice.required).filter((one) => !required.includes(one));
      const kept = Object.fromEntries(Object.entries(fields).filter(([name]) => !others.includes(name)));
      const needed = [...(schema.required ?? []), ...required];
      return fc.record(kept, { requiredKeys: needed as never[] });
    }),
  );
}

/** Anything but: values of another type, out of range, of another length. */
export const wrongText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "0",
    "-1",
    "201",
    "1e3",
    "NaN",
    "true",
    "null",
    "a,b",
    ",,",
    "..",
    "%00",
    "\u0000",
    "\ud800",
    "x".repeat(3_000),
  ),
  fc.string({ unit: "binary", maxLength: 50 }),
  fc.webUrl(),
);
