/** SchemaKeywords of numbers, strings, and values as a whole. */
import * as formatsModule from "ajv-formats/dist/formats.js";
import type { SchemaKeywords } from "../../contract/schema-node.js";
import { quickDateTime } from "../date-time.js";
import { jsonText } from "../json-text.js";
import { fail, type NodeCheck } from "./run.js";

type Interop<T> = T & { default?: Interop<T> };

/** A CommonJS module's exports, however the loader or bundler wraps it. */
function exported<T extends object, K extends keyof T>(module: Interop<T>, key: K): T[K] {
  let inner: Interop<T> = module;
  while (typeof inner.default === "object" && !(key in inner && key !== "default")) inner = inner.default;
  return inner[key];
}

/** Asked only of a value of its type. */
type Test = RegExp | ((value: string & number) => boolean);
type Format = true | Test | { readonly type?: "number" | "string"; readonly validate: Test };

const formats = exported(formatsModule as Interop<typeof formatsModule>, "fullFormats") as Record<string, Format>;

const isComposite = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Names of formats nobody knows accept anything. */
function formatCheck(format: string, type: "number" | "string"): NodeCheck | undefined {
  const known = Object.hasOwn(formats, format) ? formats[format]! : true;
  if (known === true) return undefined;
  const described = typeof known === "object" && !(known instanceof RegExp) ? known : { validate: known };
  if ((described.type ?? "string") !== type) return undefined;
  const { validate } = described;
  const whole = validate instanceof RegExp ? (value: string) => validate.test(value) : validate;
  const test = format === "date-time" ? quickDateTime(whole as (value: string) => boolean) : whole;
  return (data, run) => test(data as string & number) || fail(run, "format", `must match format "${format}"`);
}

/** Limits of a number: keyword, comparison as it is told, whether it holds. */
const limits = [
  ["M", "maximum", "<=", (value: number, limit: number) => value <= limit],
  ["m", "minimum", ">=", (value: number, limit: number) => value >= limit],
  ["X", "exclusiveMaximum", "<", (value: number, limit: number) => value < limit],
  ["x", "exclusiveMinimum", ">", (value: number, limit: number) => value > limit],
] as const;

export function numberChecks(node: SchemaKeywords): NodeCheck[] {
  const checks: NodeCheck[] = [];
  for (const [letter, keyword, told, holds] of limits) {
    const limit = node[letter];
    if (limit === undefined) continue;
    checks.push((data, run) => holds(data as number, limit) || fail(run, keyword, `must be ${told} ${limit}`));
  }
  const { f: factor } = node;
  if (factor !== undefined) {
    checks.push((data, run) => {
      const times = (data as number) / factor;
      // As ajv has it: an integer too large to be written out is none.
      const ok = factor !== 0 && times === Number.parseInt(String(times), 10);
      return ok || fail(run, "multipleOf", `must be multiple of ${factor}`);
    });
  }
  const format = node.F === undefined ? undefined : formatCheck(node.F, "number");
  return format === undefined ? checks : [...checks, format];
}

/** Characters as JSON schema counts them: code points. */
const lengthOf = (text: string): number => {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
};

export function stringChecks(node: SchemaKeywords): NodeCheck[] {
  const checks: NodeCheck[] = [];
  const { L: most, k: least, q: pattern, F: format } = node;
  if (most !== undefined) {
    const message = `must NOT have more than ${most} characters`;
    checks.push((data, run) => {
      const text = data as string;
      return text.length <= most || lengthOf(text) <= most || fail(run, "maxLength", message);
    });
  }
  if (least !== undefined) {
    const message = `must NOT have fewer than ${least} characters`;
    checks.push((data, run) => lengthOf(data as string) >= least || fail(run, "minLength", message));
  }
  if (pattern !== undefined) {
    const expression = new RegExp(pattern, "u");
    const message = `must match pattern "${pattern}"`;
    checks.push((data, run) => expression.test(data as string) || fail(run, "pattern", message));
  }
  const known = format === undefined ? undefined : formatCheck(format, "string");
  return known === undefined ? checks : [...checks, known];
}

export function valueChecks(node: SchemaKeywords): NodeCheck[] {
  const checks: NodeCheck[] = [];
  const { c: wanted, e: listed } = node;
  if (wanted !== undefined) {
    const text = isComposite(wanted) ? jsonText(wanted) : undefined;
    checks.push((data, run) => {
      const same = text === undefined ? data === wanted : isComposite(data) && jsonText(data) === text;
      return same || fail(run, "const", "must be equal to constant");
    });
  }
  if (listed !== undefined) {
    const scalars = new Set(listed.filter((one) => !isComposite(one)));
    const texts = new Set(listed.filter(isComposite).map(jsonText));
    checks.push((data, run) => {
      const found = isComposite(data) ? texts.size > 0 && texts.has(jsonText(data)) : scalars.has(data);
      return found || fail(run, "enum", "must be equal to one of the allowed values");
    });
  }
  return checks;
}
