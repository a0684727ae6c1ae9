/** Whether a creative can run in what a product sells: a banner is no spot, and a leaderboard is no rectangle. */
import type { JsonObject } from "../../contract/index.js";
import { misfits } from "../formats/fit.js";
import { formatId, formatsOf, saidById, sameFormat } from "../formats/formats.js";
import { type DeclaredOption, formatOptions, isOption, kindOfAsset, type OptionRef } from "../formats/options.js";
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
  ["display", new Set(["image", "html", "zip", "javascript", "display_tag"])],
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

/** Something that a product takes, in terms of canonical formats. */
interface Taken {
  readonly option: DeclaredOption;
  /** Nobody describes it: what its name says is all there is, and that is no more than a medium and a measure. */
  readonly guessed: boolean;
}

const kindsOfTypes = { image: "image", video: "video_hosted", audio: "audio_hosted" } as const;

/** Bounds that a name itself has, as those of templates do. */
const measuredBy = ({ width, height, duration_ms }: FormatId): JsonObject => ({
  ...(typeof width === "number" && typeof height === "number" && { width, height }),
  ...(typeof duration_ms === "number" && { duration_ms_exact: duration_ms }),
});

/** A format by its name, in terms of canonical ones. What nobody here has listed is what its name says: often nothing. */
async function byName(call: BehaviourCall, name: FormatId): Promise<Taken> {
  const known = (await formatsOf(call)).get(name.id);
  const [described] = known === undefined ? [] : formatOptions(call.agentUrl, [known], call.shapes);
  const { type, size } = saidById(name.id);
  const { params, ...option } = described ?? {
    ...(type !== undefined && { format_kind: kindsOfTypes[type] }),
    params: { ...size },
  };
  return {
    option: { ...option, params: { ...params, ...measuredBy(name) }, v1_format_ref: [name] },
    guessed: known === undefined,
  };
}

const takenBy = (call: BehaviourCall, { product_id, formats, more }: Product): Promise<readonly Taken[]> =>
  call.once(`options of ${product_id}`, async () => {
    const known = await formatsOf(call);
    const own = formats.map((id) => formatId(call, known.get(id) ?? { id }));
    const named = [...own, ...itemsIn<FormatId>(more?.format_ids)];
    return [
      ...(await Promise.all(named.map((name) => byName(call, name)))),
      ...itemsIn<DeclaredOption>(more?.format_options).map((option) => ({ option, guessed: false })),
    ];
  });

/** Whether two names are of one format, and of one size and length where both have that. */
const isSameName = (a: FormatId, b: FormatId | undefined): boolean =>
  a.id === b?.id &&
  (["width", "height", "duration_ms"] as const).every(
    (measure) => a[measure] === undefined || b[measure] === undefined || a[measure] === b[measure],
  );

/** What a package says of the formats that it is for. */
interface Chosen {
  readonly format_ids?: readonly FormatId[];
  readonly format_option_refs?: readonly OptionRef[];
  readonly format_kind?: string;
  readonly params?: JsonObject;
}

/** Of what the product takes, what its package is for; all of it where the package chooses none. */
function chosenOf(all: readonly Taken[], chosen: Chosen): readonly Taken[] {
  const { format_ids: ids = [], format_option_refs: refs = [], format_kind: kind, params } = chosen;
  // A template is taken as large, or as long, as the package says.
  const named = (one: Taken): readonly Taken[] => {
    const { v1_format_ref: own = [], format_option_id: id, params: bounds } = one.option;
    if (refs.some((ref) => ref.format_option_id === id)) return [one];
    const chosenHere = ids.filter((other) => own.some((name) => sameFormat(name, other) && isSameName(name, other)));
    return chosenHere.map((name) => ({
      ...one,
      option: { ...one.option, params: { ...bounds, ...measuredBy(name) }, v1_format_ref: [name] },
    }));
  };
  const ofNames = ids.length > 0 || refs.length > 0 ? all.flatMap(named) : all;
  const described =
    kind === undefined
      ? ofNames
      : ofNames
          .filter(({ option }) => option.format_kind === kind)
          .map((one) => ({ ...one, option: { ...one.option, params: { ...one.option.params, ...params } } }));
  // What the product took when it was ordered, and does not list any more, chooses nothing.
  return described.length > 0 ? described : all;
}

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
    medium === "display" && sized
      ? { ...asset, width: own.width, height: own.height, pixel_ratio: 1 }
      : { ...(own?.duration_ms_exact !== undefined && { duration_ms: own.duration_ms_exact }), ...asset };
  const slots = [{ asset_group_id: slot, asset_type: asset.asset_type, required: true }];
  return misfits({ ...bounds, slots }, { [slot]: shown as CreativeAsset }).length === 0;
}

/**
 * The image beside a tag that is had by its URL is what is shown where that does not load. Early releases know the URL by its slot
 * alone.
 */
const kindOf = (slot: string, { asset_type: type, url_type }: CreativeAsset): string | undefined =>
  type === "url" && (url_type === "ad_request" || slot === "tag_url") ? "display_tag" : kindOfAsset(type);

/** The canonical formats that its assets of a medium make, and the one it says it is. */
const kindsIn = (assets: CreativeAssets, medium: Medium, stated: string | undefined): readonly string[] => [
  ...(mediumOf(stated) === medium ? [stated!] : []),
  ...Object.entries(assets)
    .flatMap(([slot, value]) => ([value].flat() as CreativeAsset[]).flatMap((one) => kindOf(slot, one) ?? []))
    .filter((kind) => mediumOf(kind) === medium),
];

/** Who writes `product ... takes image and html5` names each once. */
const listed = (all: readonly unknown[]): string => [...new Set(all)].join(" and ");

/**
 * Why a creative cannot run in a product; undefined where it can, or where nobody can tell.
 * @param chosen what its package says of formats
 */
export async function unsuitable(
  call: BehaviourCall,
  product: Product,
  shown: Shown,
  chosen: Chosen = {},
): Promise<Unsuitable | undefined> {
  const { format_id: named, format_kind, format_option_ref: ref, assets } = shown;
  const all = chosenOf(await takenBy(call, product), chosen);
  const isListed = ({ v1_format_ref: refs = [] }: DeclaredOption): boolean =>
    refs.some((one) => isSameName(one, named));
  const isTaken = ({ option }: Taken): boolean => isListed(option) || (ref !== undefined && isOption(option, ref));
  if (all.length === 0 || all.some(isTaken)) return undefined;
  const own = named && (await byName(call, named));
  const main = mainIn(assets);
  const kind = format_kind ?? own?.option.format_kind;
  // A tag for players plays films but where it says that it is of sound.
  const medium = kind === "audio_vast" ? "audio" : (main?.medium ?? mediumOf(kind));
  const taken = all.map(({ option }) => mediumOf(option.format_kind));
  if (medium === undefined || taken.includes(undefined)) return undefined;
  const { product_id } = product;
  const code = (word: string, other = "CREATIVE_REJECTED"): string => (call.shapes.knowsError(word) ? word : other);
  const generic = code("CREATIVE_VALIDATION_FAILED_GENERIC");
  if (!taken.includes(medium)) {
    return { code: generic, message: `product ${product_id} takes ${listed(taken)}, and the creative is ${medium}` };
  }
  const ofMedium = all.filter((_, at) => taken[at] === medium);
  const kinds = kindsIn(assets, medium, own?.guessed === true ? format_kind : kind);
  const ofKind = ofMedium.filter(
    ({ option, guessed }) => guessed || kinds.length === 0 || kinds.includes(option.format_kind ?? ""),
  );
  if (ofKind.length === 0) {
    const wanted = listed(ofMedium.map(({ option }) => option.format_kind));
    return { code: generic, message: `product ${product_id} takes ${wanted}, and the creative is ${listed(kinds)}` };
  }
  if (main === undefined || ofKind.some(({ option }) => isMeasured(main, own?.option.params, option))) return undefined;
  const what = medium === "display" ? "size" : "length";
  return {
    code: medium === "display" ? code("CREATIVE_SIZE_MISMATCH", generic) : generic,
    message: `the creative has a ${what} that product ${product_id} does not take`,
  };
}
