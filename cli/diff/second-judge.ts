/** A release's schemas before a second validator, of other authors than the first: what both say is believed. */
import { dereference, type Schema, validate } from "@cfworker/json-schema";
import type { DiffSide } from "../../generator/diff/side.js";
import type { Json } from "../../generator/model/shape.js";
import { schemaUri } from "../../runtime/contract/index.js";

/** References of a release are paths; this validator resolves URLs. */
const ORIGIN = "https://release.invalid";

/** @returns whether the second validator accepts a value */
export type SecondJudge = (ref: string, value: Json) => boolean;

const absolute = (text: string): string => text.replaceAll('"$ref":"/', `"$ref":"${ORIGIN}/`);

export function secondJudgeOf({ model }: Pick<DiffSide, "model">): SecondJudge {
  const lookup: Record<string, Schema | boolean> = Object.create(null);
  for (const { path, validation } of model.documents) {
    const schema = JSON.parse(absolute(validation)) as Schema;
    dereference({ ...schema, $id: `${ORIGIN}${schemaUri(path)}` }, lookup);
  }
  return (ref, value) => {
    const $ref = `${ORIGIN}${schemaUri(ref)}`;
    return validate(value, { $ref }, "7", lookup).valid;
  };
}
