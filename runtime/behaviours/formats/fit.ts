/**
 * Whether assets fit a declaration of a canonical format: the slots they go into, and what its parameters bound. Parameters are
 * named after the slot they bound, such as `title_max_chars`, `cta_values`, `main_image_sizes`, or bound the media that the format
 * is about, such as `width`, `duration_ms_range`, `image_formats`. What an asset does not say of itself breaks no bound.
 */
import { type CanonicalSlot, isJsonObject, type JsonObject } from "../../contract/index.js";
import type { CreativeAsset, CreativeAssets } from "../ports/creatives.js";

/** Something about assets that a format does not take. */
export interface Misfit {
  /** The parameter that is broken, by its name; `required_slot` and `asset_type` are a slot's own. */
  readonly rule: string;
  /** From the manifest on. */
  readonly field: string;
  readonly message: string;
  readonly expected: unknown;
  readonly predicted?: unknown;
}

type Problem = Pick<Misfit, "message" | "expected"> & { readonly predicted: unknown; readonly at?: string };

/** A bound that is not what its name says binds nothing. */
type Rule = (asset: CreativeAsset, bound: unknown) => Problem | undefined;

const textOf = ({ content }: CreativeAsset): string | undefined => (typeof content === "string" ? content : undefined);

const tooLong: Rule = (asset, most) => {
  if (typeof most !== "number") return undefined;
  const length = [...(textOf(asset) ?? "")].length;
  return length <= most
    ? undefined
    : { message: `it may have ${most} characters, and has ${length}`, expected: most, predicted: length };
};

const unlisted: Rule = (asset, values) => {
  const text = textOf(asset);
  if (!Array.isArray(values) || text === undefined || values.includes(text)) return undefined;
  return { message: `it may be one of ${values.join(", ")}`, expected: values, predicted: text };
};

interface Size {
  readonly width: number;
  readonly height: number;
}

const isSize = (value: unknown): value is Size =>
  isJsonObject(value) && typeof value.width === "number" && typeof value.height === "number";

const density = ({ pixel_ratio: ratio }: CreativeAsset): number => (typeof ratio === "number" && ratio > 0 ? ratio : 1);

/** A denser picture of the same size is as good. */
const isOfSize = (asset: CreativeAsset, of: Size): boolean =>
  asset.width === of.width * density(asset) && asset.height === of.height * density(asset);

/** One size, or a list of them. */
const misfit: Rule = (asset, bound) => {
  const sizes = [bound].flat();
  if (asset.width === undefined || !sizes.every(isSize) || sizes.some((size) => isOfSize(asset, size)))
    return undefined;
  const all = sizes.map(({ width, height }) => `${width} x ${height}`).join(", ");
  const is = `${asset.width} x ${asset.height}`;
  return { message: `it is ${is}, and may be ${all}`, expected: all, predicted: is };
};

/** Bytes of a kilobyte and of a megabyte, as the protocol counts them. */
const UNITS = { kb: 1_000, mb: 1_000_000 } as const;

const tooLarge =
  (unit: keyof typeof UNITS): Rule =>
  ({ file_size_bytes: bytes }, most) =>
    typeof bytes !== "number" || typeof most !== "number" || bytes <= most * UNITS[unit]
      ? undefined
      : {
          message: `it may have ${most} ${unit.toUpperCase()}, and has ${bytes} bytes`,
          expected: most,
          predicted: bytes / UNITS[unit],
          at: "file_size_bytes",
        };

const ofSlot: readonly (readonly [suffix: string, rule: Rule])[] = [
  ["_max_chars", tooLong],
  ["_values", unlisted],
  ["_sizes", misfit],
  ["_size", misfit],
];

const inside =
  (field: string, least: unknown, most: unknown, scale = 1): Rule =>
  (asset) => {
    const value = asset[field];
    if (typeof value !== "number") return undefined;
    const low = typeof least === "number" && value < least * scale;
    const high = typeof most === "number" && value > most * scale;
    if (!low && !high) return undefined;
    const expected = least === most ? String(least) : `${least ?? ""}-${most ?? ""}`;
    return { message: `it is ${value}, and may be ${expected}`, expected, predicted: value, at: field };
  };

/** A side of the picture, whatever its density. */
const side =
  (field: "width" | "height", bounds: (bound: unknown) => readonly [unknown, unknown]): Rule =>
  (asset, bound) =>
    inside(field, ...bounds(bound), density(asset))(asset, bound);

const exactly = (bound: unknown): readonly [unknown, unknown] => [bound, bound];
const atLeast = (bound: unknown): readonly [unknown, unknown] => [bound, undefined];
const atMost = (bound: unknown): readonly [unknown, unknown] => [undefined, bound];

const oneOf =
  (field: string): Rule =>
  (asset, values) => {
    const value = asset[field];
    if (typeof value !== "string" || !Array.isArray(values) || values.includes(value)) return undefined;
    return {
      message: `it is ${value}, and may be ${values.join(", ")}`,
      expected: values,
      predicted: value,
      at: field,
    };
  };

/** How far a picture may be from a ratio, since pixels are whole. */
const NEAR = 0.01;

const ofRatio: Rule = ({ width, height }, bound) => {
  const [across = 0, down = 0] = typeof bound === "string" ? bound.split(":").map(Number) : [];
  if (typeof width !== "number" || typeof height !== "number" || !(height > 0) || !(across > 0) || !(down > 0))
    return undefined;
  const wanted = across / down;
  if (Math.abs(width / height - wanted) <= NEAR * wanted) return undefined;
  const is = `${width}:${height}`;
  return { message: `it is ${is}, and may be ${bound}`, expected: bound, predicted: is };
};

/** Parameters of the media that a format is about. */
const ofMedia: Readonly<Record<string, Rule>> = {
  width: side("width", exactly),
  height: side("height", exactly),
  min_width: side("width", atLeast),
  max_width: side("width", atMost),
  min_height: side("height", atLeast),
  max_height: side("height", atMost),
  sizes: misfit,
  aspect_ratio: ofRatio,
  duration_ms_exact: (asset, bound) => inside("duration_ms", bound, bound)(asset, bound),
  duration_ms_range: (asset, bound) =>
    Array.isArray(bound)
      ? inside("duration_ms", bound[0] ?? undefined, bound[1] ?? undefined)(asset, bound)
      : undefined,
  max_file_size_kb: tooLarge("kb"),
  max_file_size_mb: tooLarge("mb"),
  image_formats: oneOf("format"),
  containers: oneOf("container_format"),
  video_codecs: oneOf("video_codec"),
};

const MEDIA: ReadonlySet<unknown> = new Set(["image", "video", "audio", "vast", "daast"]);

/** Whether assets of a type are what a creative shows or plays. */
export const isMedia = (type: unknown): type is string => MEDIA.has(type);

const given = (assets: CreativeAssets, slot: string): readonly CreativeAsset[] =>
  Object.hasOwn(assets, slot) ? ([assets[slot]].flat() as CreativeAsset[]) : [];

const broken = (
  assets: CreativeAssets,
  slot: string,
  { rule, name, bound }: { readonly rule: Rule; readonly name: string; readonly bound: unknown },
): Misfit[] =>
  given(assets, slot).flatMap((asset): Misfit[] => {
    const problem = rule(asset, bound);
    if (problem === undefined) return [];
    const { at, ...rest } = problem;
    return [{ rule: name, field: `assets.${slot}${at === undefined ? "" : `.${at}`}`, ...rest }];
  });

/** What in the assets is outside of parameters that are named after slots. */
export function narrowedMisfits(params: JsonObject, assets: CreativeAssets): Misfit[] {
  return Object.entries(params).flatMap(([name, bound]) => {
    const found = ofSlot.find(([suffix]) => name.endsWith(suffix));
    if (found === undefined) return [];
    const [suffix, rule] = found;
    const slot = name.slice(0, -suffix.length);
    // A bound of one is a bound of each: headline_max_chars is of headlines.
    return [slot, `${slot}s`].flatMap((one) => broken(assets, one, { rule, name, bound }));
  });
}

/** A slot as a declaration has it: how many assets go into it, and how large they may be. */
interface Slot extends CanonicalSlot {
  readonly max_chars?: number;
  readonly max_size_kb?: number;
}

const slotsOf = (params: JsonObject, usual: readonly CanonicalSlot[]): readonly Slot[] =>
  Array.isArray(params.slots)
    ? params.slots.filter(
        (one): one is JsonObject & Slot => isJsonObject(one) && typeof one.asset_group_id === "string",
      )
    : usual;

/** How many assets a slot may have: parameters of the format come before what the slot says. */
function countMisfits({ asset_group_id: slot, min, max }: Slot, params: JsonObject, count: number): Misfit[] {
  const stated = (end: "min" | "max"): readonly [name: string, bound: unknown] => {
    const name = [`${end}_${slot}`, `${slot}_${end}`].find((one) => typeof params[one] === "number");
    return name === undefined ? [end, end === "min" ? min : max] : [name, params[name]];
  };
  const [fewest, least] = stated("min");
  const [mostName, most] = stated("max");
  const told = (rule: string, bound: number, end: string): Misfit[] => {
    const message = `it takes ${bound} at ${end}, and has ${count}`;
    return [{ rule, field: `assets.${slot}`, message, expected: bound, predicted: count }];
  };
  if (typeof least === "number" && count < least) return told(fewest, least, "least");
  if (typeof most === "number" && count > most) return told(mostName, most, "most");
  return [];
}

function slotMisfits(slot: Slot, params: JsonObject, assets: CreativeAssets): Misfit[] {
  const { asset_group_id: id, asset_type: type, required } = slot;
  const field = `assets.${id}`;
  const there = given(assets, id);
  if (there.length === 0) {
    const message = `the format needs an asset of type ${type}`;
    return required === true ? [{ rule: "required_slot", field, message, expected: type }] : [];
  }
  const other = there.find(({ asset_type }) => asset_type !== undefined && asset_type !== type);
  if (other !== undefined) {
    const is = other.asset_type;
    return [
      {
        rule: "asset_type",
        field: `${field}.asset_type`,
        message: `it takes ${type}, and has ${is}`,
        expected: type,
        predicted: is,
      },
    ];
  }
  return [
    ...countMisfits(slot, params, there.length),
    ...broken(assets, id, { rule: tooLong, name: "max_chars", bound: slot.max_chars }),
    ...broken(assets, id, { rule: tooLarge("kb"), name: "max_size_kb", bound: slot.max_size_kb }),
  ];
}

/**
 * What in the assets the declaration does not take; empty where they fit.
 * @param params As the declaration has them; without slots the canonical format's own hold.
 * @param usual Slots of the canonical format.
 */
export function misfits(params: JsonObject, assets: CreativeAssets, usual: readonly CanonicalSlot[] = []): Misfit[] {
  const slots = slotsOf(params, usual);
  const main = slots.find(({ required, asset_type }) => required === true && isMedia(asset_type));
  const exact = typeof params.duration_ms_exact === "number";
  const media = Object.entries(params).flatMap(([name, bound]) => {
    const rule = Object.hasOwn(ofMedia, name) ? ofMedia[name] : undefined;
    // An exact duration comes before a range of them.
    if (rule === undefined || main === undefined || (exact && name === "duration_ms_range")) return [];
    return broken(assets, main.asset_group_id, { rule, name, bound });
  });
  return [...slots.flatMap((slot) => slotMisfits(slot, params, assets)), ...media, ...narrowedMisfits(params, assets)];
}
