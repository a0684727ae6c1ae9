import type { ErrorObject, ValidateFunction } from "ajv";
import type { AnyTool, Release, SchemaDocuments, SchemaRef, Tools } from "../contract/index.js";
import { schemaUri } from "../contract/index.js";
import { quickDateTime } from "./date-time.js";
import { hasDuplicates } from "./json-text.js";
import { judgeBy, pointerStep } from "./judge.js";
import { missing } from "./missing.js";
import type { ValidationError, ValidationResult, Validator } from "./types.js";

/** `uniqueItems` in one pass: ajv compares every pair where it does not see that the items are scalars. */
const uniqueItems = {
  keyword: "uniqueItems",
  type: "array",
  schemaType: "boolean",
  validate: (wanted: boolean, items: readonly unknown[]): boolean => !wanted || !hasDuplicates(items),
  error: { message: "must NOT have duplicate items" },
} as const;

/** Ajv points at the object that lacks or has the property; a reader wants the property. */
const pointerOf = ({ instancePath, keyword, params }: ErrorObject): string => {
  if (keyword === "required") return instancePath + pointerStep(params.missingProperty);
  if (keyword === "additionalProperties") return instancePath + pointerStep(params.additionalProperty);
  return instancePath;
};

const toErrors = (errors: readonly ErrorObject[] | null | undefined): ValidationError[] =>
  (errors ?? []).map((error) => ({
    pointer: pointerOf(error),
    keyword: error.keyword,
    message: error.message ?? error.keyword,
  }));

/** URIs a document refers to. It is JSON of our own making, so its text tells; data that looks alike leads nowhere. */
const referred = (json: string): string[] => [...json.matchAll(/"\$ref": ?"(\/[^"#]+)/g)].map((match) => match[1]!);

class SchemaValidators {
  /** Documents by URI. */
  private readonly waiting: Map<string, string>;
  private readonly compiled = new Map<SchemaRef, ValidateFunction>();

  constructor(
    private readonly ajv: import("ajv").Ajv,
    documents: SchemaDocuments,
  ) {
    this.waiting = new Map(Object.entries(documents).map(([path, json]) => [schemaUri(path), json]));
  }

  /** Adds a document and what it refers to; the rest of the release is not even parsed. */
  private add(uri: string): void {
    const pending = [uri];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const json = this.waiting.get(next);
      if (json === undefined) continue;
      this.waiting.delete(next);
      this.ajv.addSchema(JSON.parse(json), next);
      pending.push(...referred(json));
    }
  }

  private validatorFor(ref: SchemaRef): ValidateFunction {
    const known = this.compiled.get(ref);
    if (known !== undefined) return known;
    const uri = schemaUri(ref);
    this.add(uri.split("#")[0]!);
    const validate = this.ajv.getSchema(uri);
    if (validate === undefined) {
      throw missing("no such schema in the release", ref, "name a schema that a tool of the release reaches");
    }
    this.compiled.set(ref, validate);
    return validate;
  }

  /** The errors of a value; undefined where there are none. */
  errors(ref: SchemaRef, data: unknown): ValidationError[] | undefined {
    const validate = this.validatorFor(ref);
    return validate(data) ? undefined : toErrors(validate.errors);
  }
}

/** Puts the quick look before the format's own function, which stays the judge. */
function hasten(ajv: import("ajv").Ajv): void {
  const known = ajv.formats["date-time"];
  if (typeof known !== "object" || known instanceof RegExp || typeof known.validate !== "function") return;
  const validate = quickDateTime(known.validate as (text: string) => boolean);
  ajv.addFormat("date-time", { ...known, type: "string", validate, async: false } as import("ajv").Format);
}

/**
 * Makes the validators of a release. Loading ajv and the schemas is the only asynchronous part.
 * Verdicts are those of ajv on the schemas as published, formats included.
 */
export async function createValidator<T extends Tools>(
  release: Pick<Release<T>, "tools" | "schemas">,
): Promise<Validator<T>> {
  const [draft07, formats, documents] = await Promise.all([import("ajv"), import("ajv-formats"), release.schemas()]);
  // Not by its name in the module: a webpack of before 5.99, as Next.js has one, sees no names where what CommonJS exports is a function.
  const { Ajv } = draft07.default;
  const open = (allErrors: boolean): SchemaValidators => {
    // validateSchema off: the generator has judged the release, and judging its meta-schema again costs more than all else.
    // optimize off: what makes the code smaller takes a third of the time to compile, and judging is no quicker for it.
    // next: what a schema of a later draft counts is counted, which the generator leaves as it is.
    const ajv = new Ajv({
      strict: false,
      allErrors,
      next: true,
      validateSchema: false,
      logger: false,
      code: { optimize: false },
    });
    formats.default.default(ajv);
    hasten(ajv);
    ajv.removeKeyword("uniqueItems").addKeyword(uniqueItems);
    return new SchemaValidators(ajv, documents);
  };
  const quick = open(false);
  let detailed: SchemaValidators | undefined;
  const judge = <R>(ref: SchemaRef, data: unknown): ValidationResult<R> =>
    judgeBy(
      data,
      (value) => quick.errors(ref, value),
      (value) => {
        detailed ??= open(true);
        return detailed.errors(ref, value);
      },
    );
  const toolOf = (name: string): AnyTool => {
    const tool = Object.hasOwn(release.tools, name) ? release.tools[name] : undefined;
    if (tool === undefined) throw missing("the release has no such tool", name, "use a key of release.tools");
    return tool;
  };
  return {
    request: (tool, data) => judge(toolOf(tool).request, data),
    arm: <D>(tool: string, status: string, data: unknown): ValidationResult<D> => {
      const arms = toolOf(tool).arms as Record<string, SchemaRef | null>;
      const ref = Object.hasOwn(arms, status) ? arms[status] : undefined;
      if (ref === undefined) throw missing(`the tool has no arm ${status}`, tool, "use a key of its arms");
      return ref === null ? { ok: true, data: data as D } : judge(ref, data);
    },
    schema: (ref, data) => judge(ref, data),
  };
}
