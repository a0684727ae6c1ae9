/**
 * Checks requests against the OpenAPI document. Out of range is refused, never adjusted
 * (docs/protocol/registry.md#common-rules).
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { JsonSchema, Operation, Parameter } from "./document.js";
import { badRequest, type Problem } from "./problems.js";

export interface ReceivedRequest {
  readonly query: Readonly<Record<string, unknown>>;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface CheckedRequest {
  /** Typed as the document has it, defaults filled in. */
  readonly query: Record<string, unknown>;
  readonly params: Record<string, string>;
  readonly body: unknown;
}

/** @throws Problem 400 */
export type Checker = (parts: ReceivedRequest) => CheckedRequest;

export function createAjv(): Ajv2020 {
  // Examples, and formats that say nothing about the wire, are no errors.
  const ajv = new Ajv2020({ strict: false, allErrors: false, code: { optimize: false } });
  (addFormats as unknown as (target: Ajv2020) => void)(ajv);
  return ajv;
}

const article = (name: string, what: string): Problem => badRequest(`${name} must be ${what}`);

type Reader = (name: string, text: string) => unknown;

const readers: Readonly<Record<string, Reader>> = {
  integer: (name, text) => {
    // "1.5", "10x" and "" are not rounded or cut to something else.
    if (!/^-?\d{1,15}$/.test(text)) throw article(name, "a number");
    return Number(text);
  },
  boolean: (name, text) => {
    if (text !== "true" && text !== "false") throw article(name, "true or false");
    return text === "true";
  },
  array: (_, text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== ""),
  string: (_, text) => text,
};

const typeOf = ({ type }: JsonSchema): string => (typeof type === "string" ? type : "string");

/** `x-any-case`: the values are written in lower case, and taken in any. */
const readerOf = (schema: JsonSchema): Reader =>
  schema["x-any-case"] === true ? (_, text) => text.toLowerCase() : (readers[typeOf(schema)] ?? readers.string!);

/** In words of the request rather than of the schema. */
function explain(name: string, fault: ErrorObject): Problem {
  const { keyword, params } = fault;
  const limit = (params as { limit?: number }).limit;
  switch (keyword) {
    case "minimum":
      return article(name, `at least ${limit}`);
    case "maximum":
      return article(name, `at most ${limit}`);
    case "maxItems":
      return badRequest(`${name} takes at most ${limit} values`);
    case "enum":
      return article(name, `one of ${(params as { allowedValues: unknown[] }).allowedValues.join(", ")}`);
    case "minLength":
      return article(name, limit === 1 ? "not empty" : `at least ${limit} characters`);
    case "maxLength":
      return article(name, `at most ${limit} characters`);
    default:
      return badRequest(`${name} ${fault.message ?? "is not valid"}`);
  }
}

interface CompiledParameter {
  readonly parameter: Parameter;
  readonly read: Reader;
  readonly validate: ValidateFunction;
}

function readQuery(compiled: readonly CompiledParameter[], query: Readonly<Record<string, unknown>>) {
  const missing = compiled.filter(({ parameter }) => parameter.required && (query[parameter.name] ?? "") === "");
  if (missing.length > 0) {
    const names = compiled.filter(({ parameter }) => parameter.required).map(({ parameter }) => parameter.name);
    throw badRequest(`Missing required query param${names.length > 1 ? "s" : ""}: ${names.join(", ")}`);
  }
  const values: Record<string, unknown> = {};
  for (const { parameter, read, validate } of compiled) {
    const { name, schema } = parameter;
    let given = query[name];
    if (Array.isArray(given)) {
      if (typeOf(schema) !== "array") throw badRequest(`${name} is given more than once`);
      given = given.join(",");
    }
    if (given === undefined) {
      if (schema.default !== undefined) values[name] = schema.default;
      continue;
    }
    const value = read(name, String(given));
    if (!validate(value)) throw explain(name, validate.errors![0]!);
    // An empty list is an absent filter.
    if (!Array.isArray(value) || value.length > 0) values[name] = value;
  }
  return values;
}

function explainBody(faults: readonly ErrorObject[]): Problem {
  // The faults of each alternative come before that of the choice.
  const fault = faults.find(({ keyword }) => keyword === "oneOf") ?? faults[0]!;
  const where = fault.instancePath.slice(1).replaceAll("/", ".");
  if (fault.keyword === "required") {
    const name = (fault.params as { missingProperty: string }).missingProperty;
    return badRequest(`Missing required field: ${where === "" ? name : `${where}.${name}`}`);
  }
  if (fault.keyword === "oneOf") return badRequest(`${where} needs one of its alternatives, and only one`);
  return where === "" ? badRequest(`The body ${fault.message}`) : explain(where, fault);
}

const checkers = new WeakMap<Operation, Checker>();

/** Compiles what the document says of one operation's request; once, however many servers a process has. */
export function checkerOf(operation: Operation, ajv: Ajv2020): Checker {
  const known = checkers.get(operation);
  if (known !== undefined) return known;
  const checker = compileChecker(operation, ajv);
  checkers.set(operation, checker);
  return checker;
}

function compileChecker(operation: Operation, ajv: Ajv2020): Checker {
  const compile = (place: Parameter["in"]): CompiledParameter[] =>
    operation.parameters
      .filter((parameter) => parameter.in === place)
      .map((parameter) => ({
        parameter,
        read: readerOf(parameter.schema),
        validate: ajv.compile(parameter.schema),
      }));
  const query = compile("query");
  const path = compile("path");
  const body = operation.body === undefined ? undefined : ajv.compile(operation.body.schema);
  return (parts) => {
    const params: Record<string, string> = {};
    for (const { parameter, validate } of path) {
      const value = parts.params[parameter.name === "path" ? "*" : parameter.name] ?? "";
      if (!validate(value)) throw explain(parameter.name, validate.errors![0]!);
      params[parameter.name] = value;
    }
    if (body !== undefined && !body(parts.body)) throw explainBody(body.errors!);
    return { query: readQuery(query, parts.query), params, body: parts.body };
  };
}
