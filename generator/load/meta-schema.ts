/** Every schema against the meta-schema of draft-07: one that is none would fail only when somebody validates by it. */
import type { Finding } from "../finding.js";
import type { LoadedRelease } from "./load.js";

/** Faults named of one file: the first says what the rest repeat. */
const MAX_FAULTS = 3;

const isPattern = (text: string): boolean => {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
};

/** Judges every schema file that could be read. */
export async function checkSchemas({ schemas }: LoadedRelease): Promise<Finding[]> {
  const { Ajv } = await import("ajv");
  // The one format that counts here: references have been rewritten to paths by now, which need not be URIs.
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    logger: false,
    formats: { regex: isPattern },
    code: { optimize: false },
  });
  // ajv leaves formats alone in its own copy, and with them the one that says what a pattern is.
  const own = ajv.getSchema("http://json-schema.org/draft-07/schema")!.schema as { properties: object };
  // Validators take `nullable` for one more type, and break on it where there is none to add it to.
  const dependencies = { nullable: ["type"] };
  // What later drafts count stays in their schemas.
  const count = { $ref: "#/definitions/nonNegativeInteger" };
  const properties = { ...own.properties, minContains: count, maxContains: count };
  const meta = ajv.compile({ ...own, properties, dependencies, $id: "https://adbind.invalid/draft-07" });
  return [...schemas.values()]
    .filter(({ schema, findings }) => findings.length === 0 && !meta(schema))
    .flatMap(({ path, schema }) => {
      meta(schema);
      return (meta.errors ?? []).slice(0, MAX_FAULTS).map(
        (error): Finding => ({
          level: "error",
          rule: "schema-invalid",
          file: path,
          pointer: error.instancePath,
          message: `not a JSON schema (draft-07): ${error.message ?? error.keyword}`,
          remedy: "Correct the keyword.",
        }),
      );
    });
}
