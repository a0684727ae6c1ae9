import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { ownerOfRef } from "../accounts/accounts.js";
import { formatId } from "../formats/formats.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { repetitionOf } from "../frame/repetition.js";
import type { CreativeFormat } from "../ports/creatives.js";
import { catalogFor } from "../previews/catalogs.js";
import { host } from "../previews/hosted.js";
import { fillLiteral } from "../previews/macros.js";
import { assetTypesOf, type CreativeManifest, firstAssets, type ManifestAsset, sizeOf } from "../previews/manifest.js";
import { previewsExpire, previewsOf } from "../previews/preview.js";
import { type CatalogItems, renderPage } from "../previews/render.js";
import { makeTag } from "../previews/tags.js";
import { canonical, isCanonical } from "./canonical.js";
import { isRender, renderCreative } from "./rendered.js";
import { fromLibrary } from "./source.js";
import { type Build, expiry, targetsOf } from "./targets.js";
import { drawImage, plainPalette, writeCopy } from "./write.js";

const contentOf = (asset: ManifestAsset | undefined): string | undefined =>
  typeof asset?.content === "string" ? asset.content : undefined;

/** Trackers and the click of a creative that a catalogue fills in at each impression. */
function catalogAssets(
  call: BehaviourCall,
  catalog: CatalogItems | undefined,
): { readonly [name: string]: ManifestAsset } {
  const { origin } = new URL(call.agentUrl);
  const [item] = catalog?.items ?? [];
  const click = typeof item?.url === "string" && catalog?.items.length === 1 ? item.url : `${origin}/click?sku={SKU}`;
  return {
    impression_tracker: {
      asset_type: "url",
      url_type: "tracker_pixel",
      url: `${origin}/imp?sku={SKU}&gtin={GTIN}&cb={CACHEBUSTER}`,
    },
    click_url: { asset_type: "url", url_type: "clickthrough", url: click },
  };
}

/** Makes a creative from words, or changes one as they say. */
async function generate(
  call: BehaviourCall,
  request: Build,
  of: CreativeFormat,
  catalog: CatalogItems | undefined,
): Promise<CreativeManifest> {
  const { message = "", account, brand } = request;
  const before = (request.creative_manifest?.assets ?? {}) as CreativeManifest["assets"];
  const [item] = catalog?.items ?? [];
  const title = typeof item?.title === "string" && catalog?.items.length === 1 ? item.title : undefined;
  const [headline, cta] = [contentOf(before.headline) ?? title, contentOf(before.cta)];
  const said = { ...(headline !== undefined && { headline }), ...(cta !== undefined && { cta }) };
  const copy = (await call.ports.creatives.write?.(message, said)) ?? writeCopy(message, said);
  const size = sizeOf(of);
  const domain = brand?.domain ?? account?.brand?.domain;
  const known = domain === undefined ? undefined : await call.ports.creatives.palette?.(domain);
  const image = host(call, {
    type: "image/svg+xml",
    content: drawImage(copy.headline, size, known ?? plainPalette),
    expires: expiry(call, request),
  });
  const dynamic = catalog !== undefined || /\{[A-Z_]+\}|\bcatalog\b/.test(message);
  return {
    format_id: formatId(call, of),
    assets: {
      ...(dynamic && catalogAssets(call, catalog)),
      ...before,
      generated_image: {
        asset_type: "image",
        url: image.url,
        width: size.width,
        height: size.height,
        format: "svg",
        alt_text: copy.headline,
      },
      headline: { asset_type: "text", content: copy.headline },
      cta: { asset_type: "text", content: copy.cta },
    },
  };
}

/** Fits a creative into another format: what it is made of stays, and a page of the new size shows it. */
function transform(call: BehaviourCall, manifest: CreativeManifest, of: CreativeFormat): CreativeManifest {
  const types = assetTypesOf(of);
  const page = renderPage(manifest, { size: sizeOf(of), macros: {} });
  const assets =
    types.has("video") || types.has("audio")
      ? manifest.assets
      : { ...manifest.assets, html: { asset_type: "html", content: page } };
  return { format_id: formatId(call, of), assets };
}

/** Macros with a value are filled in as they are; the others wait for the seller. */
function filled(manifest: CreativeManifest, values: { readonly [name: string]: string } | undefined): CreativeManifest {
  if (values === undefined) return manifest;
  const fill = (asset: ManifestAsset): ManifestAsset =>
    Object.fromEntries(
      Object.entries(asset).map(([key, value]) => [
        key,
        typeof value === "string" ? fillLiteral(value, values) : value,
      ]),
    );
  return {
    ...manifest,
    assets: Object.fromEntries(Object.entries(manifest.assets).map(([name, asset]) => [name, fill(asset)])),
  };
}

interface Built {
  readonly manifests: readonly CreativeManifest[];
  readonly catalog?: CatalogItems | undefined;
  /** What is paid for it. */
  readonly cost: JsonObject;
}

async function build(call: BehaviourToolCall, request: Build): Promise<Built> {
  const owner = await ownerOfRef(call, request.account);
  const given = request.creative_manifest;
  if (request.creative_id !== undefined) {
    const found = await fromLibrary(call, request.creative_id, owner);
    const targets = await targetsOf(call, request, found.format_id);
    const place = {
      creative_id: found.creative_id,
      ...(request.media_buy_id !== undefined && { media_buy_id: request.media_buy_id }),
      ...(request.package_id !== undefined && { package_id: request.package_id }),
    };
    const source: CreativeManifest = {
      format_id: found.format_id ?? formatId(call, targets[0]!),
      assets: firstAssets(found.assets),
    };
    const tagged = (at: number) => ({ ...place, tag_id: `tag_${repetitionOf(call, request, at).slice(0, 20)}` });
    const tags = targets.map((of, at) => ({ formatId: of.id, ...makeTag(call, owner, of, tagged(at), source) }));
    for (const { formatId: of, tag_id: tagId, creative_id: creativeId, media_buy_id: buy, package_id: line } of tags) {
      const where = { ...(buy !== undefined && { mediaBuyId: buy }), ...(line !== undefined && { packageId: line }) };
      await call.ports.creatives.serve?.({ tagId, creativeId, formatId: of, ...where }, { idempotencyKey: tagId });
    }
    const manifests = tags.map(({ manifest }) => manifest);
    const [price] = found.pricing_options ?? [];
    // A rate per impression is owed when there are impressions.
    return {
      manifests,
      cost:
        price === undefined
          ? {}
          : { pricing_option_id: price.pricing_option_id, vendor_cost: 0, currency: price.currency },
    };
  }
  const targets = await targetsOf(call, request, given?.format_id);
  if (request.message !== undefined) {
    const catalog = await catalogFor(call, request.message, request.item_limit);
    return {
      manifests: await Promise.all(targets.map((of) => generate(call, request, of, catalog))),
      catalog,
      cost: {},
    };
  }
  if (given === undefined) {
    throw new ToolError("INVALID_REQUEST", "say what to build from: message, creative_manifest or creative_id", {
      field: "creative_manifest",
    });
  }
  return { manifests: targets.map((of) => transform(call, given, of)), cost: {} };
}

/** Which of several targets a preview is of, in the words it was asked for. */
const targeted = (request: Build, { format_id }: CreativeManifest): JsonObject =>
  request.target_capability_ids === undefined ? { format_id } : { capability_id: format_id?.id };

/** What is made without a transformer costs nothing before it is shown. */
async function estimated(call: BehaviourCall, request: Build): Promise<JsonObject> {
  const { creative_id: id, creative_manifest: given } = request;
  const found = id === undefined ? undefined : await fromLibrary(call, id, await ownerOfRef(call, request.account));
  await targetsOf(call, request, found?.format_id ?? given?.format_id);
  const [price] = found?.pricing_options ?? [];
  const basis = price === undefined ? "fixed" : "cpm_deferred";
  return { mode: "estimate", estimate: { currency: price?.currency ?? "USD", cost_low: 0, cost_high: 0, basis } };
}

/** `build_creative`: by a transformer, from the library, from another creative, or from words. */
export const buildCreative: ToolBehaviour = async (request: Build, call) => {
  if (isRender(call, request)) return call.answer(await renderCreative(call, request));
  if (request.mode === "estimate") return call.answer(await estimated(call, request));
  const { manifests: raw, catalog, cost } = await build(call, request);
  const filledIn = raw.map((manifest) => filled(manifest, request.macro_values));
  const manifests = await Promise.all(filledIn.map((one) => (isCanonical(call, request) ? canonical(call, one) : one)));
  const [first] = manifests as [CreativeManifest];
  const many = request.target_format_ids !== undefined || request.target_capability_ids !== undefined;
  const options = { output: request.preview_output_format, catalog, field: "creative_manifest" };
  const inputs = many ? undefined : request.preview_inputs;
  const previews: JsonObject[] = [];
  for (const [at, manifest] of (request.include_preview === true ? manifests : []).entries())
    for (const one of await previewsOf(call, manifest, { ...options, inputs }))
      previews.push(many ? { ...targeted(request, filledIn[at]!), ...one } : one);
  return call.answer({
    ...(many ? { creative_manifests: manifests } : { creative_manifest: first }),
    expires_at: expiry(call, request),
    ...cost,
    ...(request.include_preview === true && { preview: { previews, expires_at: previewsExpire(call) } }),
  });
};
