/** A creative in several languages: each complete, one of them for whoever none is meant for. */
import type { ProtocolError } from "../../contract/index.js";
import type { CreativeAsset, CreativeAssets, CreativeUpload } from "../ports/creatives.js";

interface Variant {
  readonly locale_variant_id: string;
  /** BCP 47. */
  readonly locale: string;
}

interface TargetVariant extends Variant {
  /** What differs from the source. */
  readonly assets: CreativeAssets;
}

/** As a buyer gives it. */
export interface Localization {
  readonly source: Variant;
  readonly target_variants: readonly TargetVariant[];
  readonly locale_fallbacks?: readonly { readonly language_range: string; readonly locale_variant_id: string }[];
  readonly default_locale_variant_id: string;
  readonly unmatched_locale_action: string;
}

const repeated = (values: readonly string[]): string | undefined =>
  values.find((value, index) => values.indexOf(value) !== index);

const assetsOf = (assets: CreativeAssets): [string, CreativeAsset][] =>
  Object.entries(assets).flatMap(([slot, one]) => [one].flat().map((each): [string, CreativeAsset] => [slot, each]));

const texts = new Set(["text", "markdown"]);

/** A text that says it is in another language than its variant. */
const misplaced = (assets: CreativeAssets, locale: string): string | undefined =>
  assetsOf(assets).find(
    ([, { asset_type, language }]) =>
      texts.has(asset_type ?? "") && typeof language === "string" && language.toLowerCase() !== locale.toLowerCase(),
  )?.[0];

/** Why the languages of an upload cannot be taken. */
export function localizationProblem(
  { localization, assets }: CreativeUpload & { readonly localization?: Localization | null },
  field: string,
): ProtocolError | undefined {
  if (localization === undefined || localization === null) return undefined;
  const at = `${field}.localization`;
  const problem = (message: string, where: string): ProtocolError => ({
    code: "VALIDATION_ERROR",
    message,
    field: `${at}.${where}`,
    recovery: "correctable",
  });
  const { source, target_variants: targets, locale_fallbacks: fallbacks = [] } = localization;
  const variants = [source, ...targets];
  const ids = new Set(variants.map(({ locale_variant_id }) => locale_variant_id));
  const twiceNamed = repeated(variants.map(({ locale_variant_id }) => locale_variant_id));
  if (twiceNamed !== undefined) return problem(`two variants are called ${twiceNamed}`, "target_variants");
  const twiceIn = repeated(variants.map(({ locale }) => locale.toLowerCase()));
  if (twiceIn !== undefined) return problem(`two variants are in ${twiceIn}`, "target_variants");
  if (!ids.has(localization.default_locale_variant_id))
    return problem("it names no variant of the creative", "default_locale_variant_id");
  const dangling = fallbacks.findIndex(({ locale_variant_id }) => !ids.has(locale_variant_id));
  if (dangling >= 0)
    return problem("it names no variant of the creative", `locale_fallbacks[${dangling}].locale_variant_id`);
  const twiceRanged = repeated(fallbacks.map(({ language_range }) => language_range.toLowerCase()));
  if (twiceRanged !== undefined) return problem(`two rules are for ${twiceRanged}`, "locale_fallbacks");
  const slot = misplaced(assets, source.locale);
  if (slot !== undefined)
    return { ...problem("", ""), message: `it is not in ${source.locale}`, field: `${field}.assets.${slot}` };
  for (const [index, { assets: own, locale }] of targets.entries()) {
    const wrong = misplaced(own, locale);
    if (wrong !== undefined) return problem(`it is not in ${locale}`, `target_variants[${index}].assets.${wrong}`);
  }
  return undefined;
}

/** The languages of a creative as they are read back: each with all of its assets. */
export const localizationShown = (localization: Localization, assets: CreativeAssets) => {
  const { source, target_variants: targets, locale_fallbacks: fallbacks } = localization;
  const shown = ({ locale_variant_id, locale }: Variant, role: "source" | "target", own: CreativeAssets) => ({
    locale_variant_id,
    locale,
    role,
    assets: own,
  });
  return {
    default_locale_variant_id: localization.default_locale_variant_id,
    unmatched_locale_action: localization.unmatched_locale_action,
    locale_matching: "rfc4647_lookup",
    ...(fallbacks !== undefined && { locale_fallbacks: fallbacks }),
    variants: [
      shown(source, "source", assets),
      ...targets.map((one) => shown(one, "target", { ...assets, ...one.assets })),
    ],
  };
};
