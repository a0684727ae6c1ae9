/** A release's schemas as validators that tell every error: the witnesses of a comparison are asked of them. */
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { DiffJudge, SchemaRefusal } from "../../generator/diff/mend.js";
import type { Model } from "../../generator/model/model.js";
import { schemaUri } from "../../runtime/contract/index.js";

/** @returns a judge that compiles a schema when it is first asked for */
export function judgeOf(model: Pick<Model, "documents">): DiffJudge {
  // Most schemas are asked a few times only: making their code smaller would cost more than it saves.
  const code = { optimize: false };
  const ajv = new Ajv({ strict: false, allErrors: true, next: true, validateSchema: false, logger: false, code });
  formats.default(ajv);
  for (const { path, validation } of model.documents) ajv.addSchema(JSON.parse(validation), schemaUri(path));
  const compiled = new Map<string, ValidateFunction>();
  return (ref, value) => {
    let validate = compiled.get(ref);
    if (validate === undefined) {
      validate = ajv.getSchema(schemaUri(ref))!;
      compiled.set(ref, validate);
    }
    return validate(value) ? [] : (validate.errors as readonly SchemaRefusal[]);
  };
}
