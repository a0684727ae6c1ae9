/** Values for a schema: samples made from it, and what becomes of a value when one thing in it is broken. */
import type { Any } from "../../support/mutate-release.js";
import { schemaFiles } from "../../support/mutate-release.js";
import type { Files } from "../../support/release.js";

/** Where a reference leads, by ids and by the place of the file: independent of the generator on purpose. */
export class Refs {
  private readonly byId = new Map<string, Any>();

  constructor(private readonly files: Files) {
    for (const file of schemaFiles(files)) {
      const schema = files[file] as Any;
      if (typeof schema?.$id === "string") this.byId.set(schema.$id, schema);
    }
  }

  follow(ref: string, file: string): Any {
    const [uri, fragment = ""] = ref.split("#") as [string, string?];
    const id = (this.files[file] as Any)?.$id ?? `/${file}`;
    const base = `https://plain.invalid/${String(id).replace(/^\//, "")}`;
    const beside = new URL(uri, id.includes("://") ? id : base).pathname;
    let schema =
      uri === "" ? this.files[file] : (this.byId.get(uri) ?? this.byId.get(beside) ?? this.files[beside.slice(1)]);
    for (const token of decodeURIComponent(fragment).split("/").slice(1))
      schema = (schema as Any)?.[token.replaceAll("~1", "/").replaceAll("~0", "~")];
    return schema;
  }
}

/** Levels a sample goes down before it stays with what is required. */
const FULL_LEVELS = 4;
const MAX_LEVELS = 9;

/** One value that should fit a schema, with all properties or only the required ones; a guess, for ajv to judge. */
export function sample(schema: Any, file: string, refs: Refs, full: boolean, level = 0): unknown {
  if (typeof schema !== "object" || schema === null || level > MAX_LEVELS) return null;
  if (typeof schema.$ref === "string") return sample(refs.follow(schema.$ref, file), file, refs, full, level + 1);
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.examples) && schema.examples.length > 0 && level > 0) return schema.examples[0];
  const parts = [...(schema.allOf ?? []), ...(schema.oneOf ?? schema.anyOf ?? []).slice(0, 1)];
  const made = parts.map((part) => sample(part, file, refs, full, level + 1));
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "array") {
    const items = Array.isArray(schema.items) ? schema.items : [schema.items ?? {}];
    return items.slice(0, 2).map((one: Any) => sample(one, file, refs, full, level + 1));
  }
  if (type === "object" || schema.properties !== undefined || made.some((one) => typeof one === "object")) {
    const required: string[] = schema.required ?? [];
    const wanted = Object.entries<Any>(schema.properties ?? {}).filter(
      ([name]) => required.includes(name) || (full && level < FULL_LEVELS),
    );
    const own = wanted.map(([name, one]) => [name, sample(one, file, refs, full, level + 1)] as const);
    return Object.assign(
      {},
      ...made.filter((one) => typeof one === "object" && !Array.isArray(one)),
      Object.fromEntries(own),
    );
  }
  if (made.length > 0) return made[0];
  return scalar(schema, type);
}

const byFormat: Record<string, string> = {
  date: "2026-01-02",
  "date-time": "2026-01-02T03:04:05Z",
  email: "a@example.com",
  hostname: "example.com",
  uri: "https://example.com/a",
  "uri-template": "https://example.com/{a}",
  uuid: "3f1c1f5e-4b0e-4a39-9d4e-1f2a3b4c5d6e",
};

function scalar(schema: Any, type: string | undefined): unknown {
  if (type === "string") return byFormat[schema.format] ?? "a".repeat(Math.max(1, schema.minLength ?? 16));
  if (type === "integer" || type === "number") return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1;
  if (type === "boolean") return true;
  return type === "null" ? null : {};
}

type Step = string | number;

function* places(value: Any, at: Step[] = []): Generator<Step[]> {
  yield at;
  if (typeof value !== "object" || value === null) return;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) yield* places(value[key], [...at, key]);
}

function changed(value: Any, at: Step[], change: (holder: Any, key: Step) => void): unknown {
  const copy = structuredClone({ root: value });
  let holder: Any = copy;
  const whole: Step[] = ["root", ...at];
  for (const step of whole.slice(0, -1)) holder = holder[step];
  change(holder, whole.at(-1)!);
  return copy.root;
}

/**
 * A value with one thing broken at every place in turn: a field gone, a type changed, a string no enum has, a field
 * nobody declared, a null.
 * @param most mutations, spread evenly over all there are
 */
export function broken(value: unknown, most: number): unknown[] {
  const made: (() => unknown)[] = [];
  for (const at of places(value)) {
    const set = (to: unknown) =>
      made.push(() =>
        changed(value, at, (holder, key) => {
          holder[key] = to;
        }),
      );
    let here: Any = value;
    for (const step of at) here = here[step];
    if (at.length > 0 && typeof at.at(-1) === "string")
      made.push(() => changed(value, at, (holder, key) => void delete holder[key]));
    set(typeof here === "string" ? 7 : "seven");
    set(null);
    if (typeof here === "string") set(`${here}-broken!`);
    if (typeof here === "number") set(-here - 0.5);
    if (typeof here === "object" && here !== null && !Array.isArray(here)) set({ ...here, undeclared_field: 1 });
    if (Array.isArray(here)) set([]);
  }
  const step = Math.max(1, made.length / most);
  return Array.from({ length: Math.min(most, made.length) }, (_, index) => made[Math.floor(index * step)]!());
}
