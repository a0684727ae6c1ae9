/**
 * What a tool's schemas say about the tool, read through `$ref`, `allOf` and branches, so that the model need not know
 * JSON schema.
 */

import { splitRef } from "./closure.js";
import type { LoadedRelease } from "./load.js";
import { atPointer, isMap, type JsonMap, type Schema } from "./walk.js";

/** A schema with its place, which is also how generated code refers to it. */
interface Placed {
  schema: JsonMap;
  /** `<path>` or `<path>#<pointer>`. */
  ref: string;
}

const refTo = (ref: string): string => ref.replace(/^\//, "");

const step = (ref: string, ...keys: (string | number)[]): string =>
  keys.reduce<string>((at, key) => `${at}/${key}`, ref.includes("#") ? ref : `${ref}#`);

/** Deepest chain of references followed; a longer one is a loop. */
const MAX_DEPTH = 64;

export class SchemaFacts {
  constructor(private readonly schemas: LoadedRelease["schemas"]) {}

  private place(ref: string): Placed | undefined {
    const { path, pointer } = splitRef(`/${ref}`);
    const file = this.schemas.get(path);
    const schema: Schema | undefined = file === undefined ? undefined : (atPointer(file.schema, pointer) as Schema);
    return isMap(schema) ? { schema, ref } : undefined;
  }

  /** The schema and everything it demands at once: its own keywords, its `$ref`, and its `allOf`. */
  private *conjuncts(placed: Placed | undefined, seen = new Set<JsonMap>()): Generator<Placed> {
    if (placed === undefined || seen.has(placed.schema)) return;
    seen.add(placed.schema);
    yield placed;
    const { schema, ref } = placed;
    if (typeof schema.$ref === "string") yield* this.conjuncts(this.place(refTo(schema.$ref)), seen);
    if (Array.isArray(schema.allOf)) {
      for (const [index, one] of schema.allOf.entries()) {
        if (isMap(one)) yield* this.conjuncts({ schema: one, ref: step(ref, "allOf", index) }, seen);
      }
    }
  }

  /** The alternatives a schema offers, at any depth of `oneOf`, `anyOf` and what they refer to. */
  private *branches(root: Placed | undefined, seen = new Set<JsonMap>()): Generator<Placed> {
    for (const { schema, ref } of this.conjuncts(root)) {
      for (const key of ["oneOf", "anyOf"]) {
        const list = schema[key];
        if (!Array.isArray(list)) continue;
        for (const [index, one] of list.entries()) {
          if (!isMap(one) || seen.has(one)) continue;
          seen.add(one);
          const branch = { schema: one, ref: step(ref, key, index) };
          yield branch;
          yield* this.branches(branch, seen);
        }
      }
    }
  }

  private properties(placed: Placed | undefined, name: string): JsonMap[] {
    return [...this.conjuncts(placed)]
      .map(({ schema }) =>
        isMap(schema.properties) && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined,
      )
      .filter(isMap);
  }

  private requires(placed: Placed, name: string): boolean {
    return [...this.conjuncts(placed)].some(
      ({ schema }) => Array.isArray(schema.required) && schema.required.includes(name),
    );
  }

  /** How a schema declares a property: through `$ref` and `allOf`, as a validator would see it. */
  property(ref: string, name: string): "required" | "optional" | undefined {
    const placed = this.place(ref);
    if (placed === undefined || this.properties(placed, name).length === 0) return undefined;
    return this.requires(placed, name) ? "required" : "optional";
  }

  description(ref: string): string {
    const text = this.place(ref)?.schema.description;
    return typeof text === "string" ? text : "";
  }

  /** Values a property may take, undefined when it is open. */
  private values(schema: JsonMap, depth = 0): string[] | undefined {
    if (depth > MAX_DEPTH) return undefined;
    if (typeof schema.const === "string") return [schema.const];
    if (Array.isArray(schema.enum)) return schema.enum.filter((value) => typeof value === "string");
    if (typeof schema.$ref === "string") {
      const target = this.place(refTo(schema.$ref));
      return target === undefined ? undefined : this.values(target.schema, depth + 1);
    }
    for (const key of ["oneOf", "anyOf"]) {
      const list = schema[key];
      if (!Array.isArray(list)) continue;
      const each = list.filter(isMap).map((one) => this.values(one, depth + 1));
      return each.every((one) => one !== undefined) ? each.flat() : undefined;
    }
    return undefined;
  }

  /** What a response's `status` may be: demanded of every answer, the root's own, and per branch. */
  statuses(ref: string): {
    demanded: string[][];
    own: string[] | undefined;
    branches: { ref: string; values: string[] }[];
  } {
    const root = this.place(ref);
    const known = (list: (string[] | undefined)[]): string[][] => list.filter((one) => one !== undefined);
    const demanded = known(this.properties(root, "status").map((schema) => this.values(schema)));
    const ownSchema = isMap(root?.schema.properties) ? root.schema.properties.status : undefined;
    const branches = [...this.branches(root)].flatMap((branch) =>
      known(this.properties(branch, "status").map((schema) => this.values(schema))).map((values) => ({
        ref: branch.ref,
        values,
      })),
    );
    return { demanded, own: isMap(ownSchema) ? this.values(ownSchema) : undefined, branches };
  }

  /** Properties of the branches that demand `errors`; undefined where none does. */
  failureFields(ref: string): string[] | undefined {
    const failing = [...this.branches(this.place(ref))].filter((branch) => this.requires(branch, "errors"));
    if (failing.length === 0) return undefined;
    const names = failing.flatMap((branch) =>
      [...this.conjuncts(branch)].flatMap(({ schema }) =>
        isMap(schema.properties) ? Object.keys(schema.properties) : [],
      ),
    );
    return [...new Set(names)].sort();
  }
}
