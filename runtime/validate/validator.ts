import type { ErrorObject, ValidateFunction } from "ajv";
import type { AnyTool, ArmsOf, Release, RequestOf, SchemaDocuments, SchemaRef, Tools } from "../contract.js";
import { schemaUri } from "../contract.js";
import { AdbindError } from "../errors.js";

export interface ValidationError {
  /** JSON pointer (RFC 6901) to the value at fault; for a missing or a forbidden property, to that property. */
  pointer: string;
  /** JSON schema keyword that refused it. */
  keyword: string;
  message: string;
}

export type ValidationResult<T = unknown> = { ok: true; data: T } | { ok: false; errors: ValidationError[] };

/** Validators of one release. Nothing is compiled before it is asked for. */
export interface Validator<T extends Tools = Tools> {
  /** Judges a tool's request. */
  request<K extends keyof T & string>(tool: K, data: unknown): ValidationResult<RequestOf<T[K]>>;
  /** Judges the data of one of a tool's arms; an arm the release gives no schema accepts anything. */
  arm<K extends keyof T & string, S extends keyof ArmsOf<T[K]> & string>(
    tool: K,
    status: S,
    data: unknown,
  ): ValidationResult<ArmsOf<T[K]>[S]>;
  /**
   * The same for a tool and a status that are known at run time only.
   * @throws AdbindError `schema_missing` where the release has no such tool, or the tool no such arm
   */
  armOf(tool: string, status: string, data: unknown): ValidationResult;
  /**
   * Judges a value by any schema that the tools of the release reach.
   * @throws AdbindError schema_missing
   */
  schema(ref: SchemaRef, data: unknown): ValidationResult;
}

/** Errors reported for one value: a hostile one could otherwise name a million. */
const MAX_ERRORS = 64;
/** Values in what all errors are looked for; of anything larger the first one is told, since ajv's lists grow as the square. */
const SMALL_VALUES = 2_000;

/** Does a value hold no more than `SMALL_VALUES` of them? */
function isSmall(data: unknown): boolean {
  const pending: unknown[] = [data];
  let seen = 0;
  for (let next = pending.pop(); next !== undefined || pending.length > 0; next = pending.pop()) {
    seen += 1;
    if (seen + pending.length > SMALL_VALUES) return false;
    if (typeof next !== "object" || next === null) continue;
    const held = Array.isArray(next) ? next : Object.values(next);
    if (held.length > SMALL_VALUES) return false;
    pending.push(...held);
  }
  return true;
}

/** One text for each JSON value, whatever the order of its keys. */
const textOf = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${textOf((value as Record<string, unknown>)[key])}`).join(",")}}`;
};

/** `uniqueItems` in one pass: ajv compares every pair where it does not see that the items are scalars. */
const uniqueItems = {
  keyword: "uniqueItems",
  type: "array",
  schemaType: "boolean",
  validate: (wanted: boolean, items: readonly unknown[]): boolean =>
    !wanted || items.length < 2 || new Set(items.map(textOf)).size === items.length,
  error: { message: "must NOT have duplicate items" },
} as const;

const token = (name: unknown): string => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Ajv points at the object that lacks or has the property; a reader wants the property. */
const pointerOf = ({ instancePath, keyword, params }: ErrorObject): string => {
  if (keyword === "required") return instancePath + token(params.missingProperty);
  if (keyword === "additionalProperties") return instancePath + token(params.additionalProperty);
  return instancePath;
};

const toErrors = (errors: readonly ErrorObject[] | null | undefined): ValidationError[] =>
  (errors ?? []).slice(0, MAX_ERRORS).map((error) => ({
    pointer: pointerOf(error),
    keyword: error.keyword,
    message: error.message ?? error.keyword,
  }));

/** URIs a document refers to. It is compact JSON of our own making, so its text tells; data that looks alike leads nowhere. */
const referred = (json: string): string[] => [...json.matchAll(/"\$ref":"(\/[^"#]+)/g)].map((match) => match[1]!);

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
      throw new AdbindError("schema_missing", "no such schema in the release", {
        where: ref,
        remedy: "name a schema that a tool of the release reaches",
      });
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

/** Judges by the first error, and looks for the others only where that is cheap. */
class Judge {
  private detailed: SchemaValidators | undefined;

  constructor(
    private readonly quick: SchemaValidators,
    private readonly openDetailed: () => SchemaValidators,
  ) {}

  judge<T>(ref: SchemaRef, data: unknown): ValidationResult<T> {
    const first = this.quick.errors(ref, data);
    if (first === undefined) return { ok: true, data: data as T };
    if (!isSmall(data)) return { ok: false, errors: first };
    this.detailed ??= this.openDetailed();
    return { ok: false, errors: this.detailed.errors(ref, data) ?? first };
  }
}

/**
 * Makes the validators of a release. Loading ajv and the schemas is the only asynchronous part.
 * Verdicts are those of ajv on the schemas as published, formats included.
 */
export async function createValidator<T extends Tools>(
  release: Pick<Release<T>, "tools" | "schemas">,
): Promise<Validator<T>> {
  const [{ Ajv }, formats, documents] = await Promise.all([import("ajv"), import("ajv-formats"), release.schemas()]);
  const open = (allErrors: boolean): SchemaValidators => {
    // validateSchema off: the generator has judged the release, and judging its meta-schema again costs more than all else.
    const ajv = new Ajv({ strict: false, allErrors, validateSchema: false, logger: false });
    formats.default.default(ajv);
    ajv.removeKeyword("uniqueItems").addKeyword(uniqueItems);
    return new SchemaValidators(ajv, documents);
  };
  const validators = new Judge(open(false), () => open(true));
  const toolOf = (name: string): AnyTool => {
    const tool = Object.hasOwn(release.tools, name) ? release.tools[name] : undefined;
    if (tool !== undefined) return tool;
    throw new AdbindError("schema_missing", "the release has no such tool", {
      where: name,
      remedy: "use a key of release.tools",
    });
  };
  return {
    request: (tool, data) => validators.judge(toolOf(tool).request, data),
    arm: judgeArm,
    armOf: judgeArm,
    schema: (ref, data) => validators.judge(ref, data),
  };
  function judgeArm<D>(tool: string, status: string, data: unknown): ValidationResult<D> {
    const arms = toolOf(tool).arms as Record<string, SchemaRef | null>;
    const ref = Object.hasOwn(arms, status) ? arms[status] : undefined;
    if (ref === undefined) {
      throw new AdbindError("schema_missing", `the tool has no arm ${status}`, {
        where: tool,
        remedy: "use a key of its arms",
      });
    }
    return ref === null ? { ok: true, data: data as D } : validators.judge(ref, data);
  }
}
