/** What judges by a release's schemas, whether they were compiled when they were generated or are when they are needed. */
import type { ArmsOf, Release, RequestOf, SchemaRef, Tools } from "../contract/index.js";

/** One thing that is wrong in a document. */
export interface ValidationError {
  /** JSON pointer (RFC 6901) to the value at fault; for a missing or a forbidden property, to that property. */
  pointer: string;
  /** JSON schema keyword that refused it. */
  keyword: string;
  message: string;
}

/** A document that fits its schema, with its type, or what is wrong with it. */
export type ValidationResult<T = unknown> = { ok: true; data: T } | { ok: false; errors: ValidationError[] };

/** Validators of one release. Nothing is compiled before it is asked for. */
export interface Validator<T extends Tools = Tools> {
  /**
   * Judges a tool's request.
   * @throws AdbindError schema_missing for a tool it has no schemas of
   */
  request<K extends keyof T & string>(tool: K, data: unknown): ValidationResult<RequestOf<T[K]>>;
  /**
   * Judges the data of one of a tool's arms; an arm the release gives no schema accepts anything.
   * @throws AdbindError schema_missing for a tool or an arm it has no schemas of
   */
  arm<K extends keyof T & string, S extends keyof ArmsOf<T[K]> & string>(
    tool: K,
    status: S,
    data: unknown,
  ): ValidationResult<ArmsOf<T[K]>[S]>;
  /**
   * Judges a value by any schema that the tools of the release reach.
   * @throws AdbindError schema_missing
   */
  schema(ref: SchemaRef, data: unknown): ValidationResult;
}

/** A validator of whichever release, for code that knows its tools at run time only. Every `Validator` is one. */
export interface AnyValidator {
  request(tool: string, data: unknown): ValidationResult;
  arm(tool: string, status: string, data: unknown): ValidationResult;
  schema(ref: SchemaRef, data: unknown): ValidationResult;
}

/**
 * Where a seller, a buyer, a sender or a receiver has its validators from: the validator of its one release, such as
 * `generate --standalone` emits, or what makes one for each release, such as `createValidator`.
 */
export type ValidatorSource = AnyValidator | ((release: Release) => AnyValidator | Promise<AnyValidator>);
