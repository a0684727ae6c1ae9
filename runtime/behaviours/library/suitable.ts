/** Whether a creative can run in what a product sells: a banner is no spot, and a leaderboard is no rectangle. */
import type { JsonObject } from "../../contract/index.js";
import { misfits } from "../formats/fit.js";
import { formatFromId, formatsNamed, formatsOf } from "../formats/formats.js";
import { type DeclaredOption, formatOptions, isOption, type OptionRef } from "../formats/options.js";
import type { BehaviourCall } from "../frame/call.js";
import { itemsIn } from "../frame/items-in.js";
import type { Product } from "../ports/catalogue.js";
import type { CreativeAsset, CreativeAssets, FormatId } from "../ports/creatives.js";

/** What is looked at of a creative, or of an upload. */
export interface Shown {
  readonly format_id?: FormatId | undefined;
  readonly format_kind?: string | undefined;
  readonly format_option_ref?: OptionRef | undefined;
  readonly assets: CreativeAssets;
}

/** Why a creative cannot run there, with the release's word for it. */
export interface Unsuitable {
  readonly code: string;
  readonly message: string;
}

type Medium = "display" | "video" | "audio";

/** Canonical formats that are of one medium whatever is in them; what another kind takes is not told by its name. */
const media: Readonly<Record<string, Medium>> = {
  ...{ image: "display", html5: "display", display_tag: "display" },
  ...{ video_hosted: "video", video_vast: "video", audio_hosted: "audio", audio_daast: "audio" },
};
const mediumOf = (kind: string | undefined): Medium | undefined =>
  kind !== undefined && Object.hasOwn(media, kind) ? media[kind] : undefined;

/** Types of assets by what they are shown as: a film with a still beside it is a film. */
const types: readonly (readonly [Medium, ReadonlySet<unknown>])[] = [
  ["video", new Set(["video", "vast"])],
  ["audio", new Set(["audio", "daast"])],
  ["display", new Set(["image", "html", "javascript"])],
];

interface Main {
  readonly medium: Medium;
  readonly slot: string;
  readonly asset: CreativeAsset;
}

/** The asset that a creative is about; undefined where its assets do not say what they are. */
function mainIn(assets: CreativeAssets): Main | undefined {
  for (const [medium, among] of types)
    for (const [slot, value] of Object.entries(assets))
      for (const asset of [value].flat() as CreativeAsset[])
        if (among.has(asset.asset_type)) return { medium, slot, asset };
  return undefined;
}

/** What a product takes, in terms of canonical formats. */
const optionsOf = (call: BehaviourCall, { product_id, formats, more }: Product): Promise<readonly DeclaredOption[]> =>
  call.once(`options of ${product_id}`, async () => {
    const named = itemsIn<FormatId>(more?.format_ids);
    const foreign = named.map(({ id, agent_url }) => ({ ...formatFromId(id), agent_url }));
    return [
      ...formatOptions(call.agentUrl, [...(await formatsNamed(call, formats)), ...foreign], call.shapes),
      ...itemsIn<DeclaredOption>(more?.format_options),
    ];
  });

/** Parameters that bound what a medium is measured by. */
const measures: Readonly<Record<Medium, readonly string[]>> = {
  display: ["width", "height", "sizes"],
  video: ["duration_ms_exact", "duration_ms_range"],
  audio: ["duration_ms_exact", "duration_ms_range"],
};

/** Whether it is as large, or as long, as the option takes it: by its format, where that has a size, else by what it says itself. */
function isMeasured(
  { medium, slot, asset }: Main,
  own: JsonObject | undefined,
  { params = {} }: DeclaredOption,
): boolean {
  const bounds = Object.fromEntries(measures[medium].flatMap((name) => (name in params ? [[name, params[name]]] : [])));
  const sized = typeof own?.width === "number" && typeof own.height === "number";
  const shown =
    medium === "display" && sized ? { ...asset, width: own.width, height: own.height, pixel_ratio: 1 } : asset;
  const slots = [{ asset_group_id: slot, asset_type: asset.asset_type, required: true }];
  return misfits({ ...bounds, slots }, { [slot]: shown as CreativeAsset }).length === 0;
}

/** Why a creative cannot run in a product; undefined where it can, or where nobody can tell. */
export async function unsuitable(call: BehaviourCall, product: Product, shown: Shown): Promise<Unsuitable | undefined> {
  const { format_id: named, format_kind, format_option_ref: ref, assets } = shown;
  const options = await optionsOf(call, product);
  const isListed = ({ v1_format_ref: refs = [] }: DeclaredOption): boolean => refs.some(({ id }) => id === named?.id);
  if (options.length === 0 || options.some((one) => isListed(one) || (ref !== undefined && isOption(one, ref))))
    return undefined;
  const known = named && ((await formatsOf(call)).get(named.id) ?? formatFromId(named.id));
  const [own] = known === undefined ? [] : formatOptions(call.agentUrl, [known], call.shapes);
  const main = mainIn(assets);
  const medium = main?.medium ?? mediumOf(format_kind ?? own?.format_kind);
  const taken = options.map((one) => mediumOf(one.format_kind));
  if (medium === undefined || taken.includes(undefined)) return undefined;
  const { product_id } = product;
  const code = (word: string, other = "CREATIVE_REJECTED"): string => (call.shapes.knowsError(word) ? word : other);
  const generic = code("CREATIVE_VALIDATION_FAILED_GENERIC");
  if (!taken.includes(medium)) {
    const all = [...new Set(taken)].join(" and ");
    return { code: generic, message: `product ${product_id} takes ${all}, and the creative is ${medium}` };
  }
  const measured = options.filter((_, at) => taken[at] === medium);
  if (main === undefined || measured.some((one) => isMeasured(main, own?.params, one))) return undefined;
  const what = medium === "display" ? "size" : "length";
  return {
    code: medium === "display" ? code("CREATIVE_SIZE_MISMATCH", generic) : generic,
    message: `the creative has a ${what} that product ${product_id} does not take`,
  };
}
