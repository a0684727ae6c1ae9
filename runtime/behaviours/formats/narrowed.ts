/**
 * What a canonical format is narrowed to, and whether assets fit: parameters are named after the slot they bound, such as
 * `title_max_chars`, `cta_values`, `main_image_sizes`.
 */
import { isJsonObject, type JsonObject, type ProtocolError } from "../../contract/index.js";
import { invalidCode } from "../frame/invalid.js";
import type { AnswerShapes } from "../frame/shape.js";
import type { CreativeAsset, CreativeAssets } from "../ports/creatives.js";

interface Size {
  readonly width: number;
  readonly height: number;
}

/** A bound that is not what its name says binds nothing. */
type Rule = (
  asset: CreativeAsset,
  bound: unknown,
  shapes: AnswerShapes,
) => Pick<ProtocolError, "code" | "message"> | undefined;

const textOf = ({ content }: CreativeAsset): string | undefined => (typeof content === "string" ? content : undefined);

const tooLong: Rule = (asset, most, shapes) => {
  if (typeof most !== "number") return undefined;
  const length = [...(textOf(asset) ?? "")].length;
  return length <= most
    ? undefined
    : { code: invalidCode(shapes), message: `it may have ${most} characters, and has ${length}` };
};

const unlisted: Rule = (asset, values, shapes) => {
  const text = textOf(asset);
  if (!Array.isArray(values) || text === undefined || values.includes(text)) return undefined;
  const code = shapes.knowsError("CREATIVE_VALUE_NOT_ALLOWED") ? "CREATIVE_VALUE_NOT_ALLOWED" : "CREATIVE_REJECTED";
  return { code, message: `it may be one of ${values.join(", ")}` };
};

const isSize = (value: unknown): value is Size =>
  isJsonObject(value) && typeof value.width === "number" && typeof value.height === "number";

/** A denser picture of the same size is as good. */
const isOfSize = ({ width, height, pixel_ratio: ratio }: CreativeAsset, of: Size): boolean => {
  const dense = typeof ratio === "number" && ratio > 0 ? ratio : 1;
  return width === of.width * dense && height === of.height * dense;
};

/** One size, or a list of them. */
const misfit: Rule = (asset, bound, shapes) => {
  const sizes = [bound].flat();
  if (asset.width === undefined || !sizes.every(isSize) || sizes.some((size) => isOfSize(asset, size)))
    return undefined;
  const all = sizes.map(({ width, height }) => `${width} x ${height}`).join(", ");
  return { code: invalidCode(shapes), message: `it is ${asset.width} x ${asset.height}, and may be ${all}` };
};

const rules: readonly (readonly [suffix: string, rule: Rule])[] = [
  ["_max_chars", tooLong],
  ["_values", unlisted],
  ["_sizes", misfit],
  ["_size", misfit],
];

/** What in the assets is outside of the parameters, slot by slot. */
export function narrowedProblems(
  params: JsonObject,
  assets: CreativeAssets,
  { shapes, field }: { readonly shapes: AnswerShapes; readonly field: string },
): ProtocolError[] {
  return Object.entries(params).flatMap(([name, bound]) => {
    const found = rules.find(([suffix]) => name.endsWith(suffix));
    if (found === undefined) return [];
    const [suffix, rule] = found;
    const slot = name.slice(0, -suffix.length);
    const given = Object.hasOwn(assets, slot) ? ([assets[slot]].flat() as CreativeAsset[]) : [];
    return given.flatMap((asset): ProtocolError[] => {
      const problem = rule(asset, bound, shapes);
      return problem === undefined ? [] : [{ ...problem, field: `${field}.assets.${slot}`, recovery: "correctable" }];
    });
  });
}
