import { extra, type JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { ownerOfRef } from "../accounts/accounts.js";
import { type Creative, creative } from "../creatives/creatives.js";
import { type Format, formatId } from "../formats/formats.js";
import { catalogFor } from "./catalogs.js";
import { host } from "./hosted.js";
import { fillLiteral } from "./macros.js";
import { type Asset, knownFormat, type Manifest, sizeOf, typesOf } from "./manifest.js";
import { type PreviewInput, previewsExpire, previewsOf } from "./preview.js";
import { type CatalogItems, renderPage } from "./render.js";
import { makeTag } from "./tags.js";
import { drawImage, paletteOf, writeCopy } from "./write.js";

type Build = Request<"build_creative">;

/** How long what was made for iteration is kept, and what was made to run. */
const KEPT_DAYS = { draft: 1, production: 90 };
const DAY = 86_400_000;

const expiry = (call: Call, { quality }: Build): string =>
  new Date(call.now.getTime() + KEPT_DAYS[quality ?? "production"] * DAY).toISOString();

/** A creative of the library that may be served. */
function fromLibrary(call: Call, id: string): Creative {
  const found = creative(call, id);
  if (found === undefined) {
    throw new ToolError("CREATIVE_NOT_FOUND", "there is no such creative in the library", { field: "creative_id" });
  }
  if (found.status !== "rejected" && found.status !== "archived") return found;
  throw new ToolError("INVALID_STATE", `the creative is ${found.status}: it is not served`, { field: "creative_id" });
}

/** Of repeated assets, the first. */
const single = (assets: Creative["assets"]): Manifest["assets"] =>
  Object.fromEntries(
    Object.entries(assets).flatMap(([name, one]) => {
      const [first] = [one].flat() as Asset[];
      return first === undefined ? [] : [[name, first]];
    }),
  );

/** Formats asked for; where none is, that of what is given. */
function targetsOf(call: Call, request: Build, given: { readonly id: string } | undefined): Format[] {
  const { target_format_id: one, target_format_ids: many } = request;
  // Who names several means several, whatever else a client has filled in.
  if (many !== undefined) return many.map((id, index) => knownFormat(call, id, `target_format_ids[${index}]`));
  const wanted = one ?? given;
  if (wanted === undefined) {
    throw new ToolError("INVALID_REQUEST", "say what to build: target_format_id or target_format_ids", {
      field: "target_format_id",
    });
  }
  return [knownFormat(call, wanted, "target_format_id")];
}

const contentOf = (asset: Asset | undefined): string | undefined =>
  typeof asset?.content === "string" ? asset.content : undefined;

/** Trackers and the click of a creative that a catalogue fills in at each impression. */
function catalogAssets(call: Call, catalog: CatalogItems | undefined): { readonly [name: string]: Asset } {
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
function generate(call: Call, request: Build, of: Format, catalog: CatalogItems | undefined): Manifest {
  const { message = "", account, brand } = request;
  const before = ((request.creative_manifest as unknown as Manifest | undefined)?.assets ?? {}) as Manifest["assets"];
  const [item] = catalog?.items ?? [];
  const title = typeof item?.title === "string" && catalog?.items.length === 1 ? item.title : undefined;
  const [headline, cta] = [contentOf(before.headline) ?? title, contentOf(before.cta)];
  const copy = writeCopy(message, { ...(headline !== undefined && { headline }), ...(cta !== undefined && { cta }) });
  const size = sizeOf(of);
  const domain = brand?.domain ?? (account !== undefined && "brand" in account ? account.brand.domain : undefined);
  const image = host(call, {
    type: "image/svg+xml",
    content: drawImage(copy.headline, size, paletteOf(call, domain)),
    expires: expiry(call, request),
  });
  const dynamic = catalog !== undefined || /\{[A-Z_]+\}|\bcatalog\b/.test(message);
  return {
    format_id: formatId(call, of.id),
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
function transform(call: Call, manifest: Manifest, of: Format): Manifest {
  const types = typesOf(of);
  const page = renderPage(manifest, { size: sizeOf(of), macros: {} });
  const assets =
    types.has("video") || types.has("audio")
      ? manifest.assets
      : { ...manifest.assets, html: { asset_type: "html", content: page } };
  return { format_id: formatId(call, of.id), assets };
}

/** Macros with a value are filled in as they are; the others wait for the seller. */
function filled(manifest: Manifest, values: { readonly [name: string]: string } | undefined): Manifest {
  if (values === undefined) return manifest;
  const fill = (asset: Asset): Asset =>
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
  readonly manifests: readonly Manifest[];
  readonly catalog?: CatalogItems | undefined;
  /** What is paid for it. */
  readonly cost: JsonObject;
}

function build(call: Call, request: Build): Built {
  const owner = ownerOfRef(call, request.account);
  const given = request.creative_manifest as unknown as Manifest | undefined;
  if (request.creative_id !== undefined) {
    const found = fromLibrary(call, request.creative_id);
    const targets = targetsOf(call, request, found.format_id);
    const place = {
      creative_id: found.creative_id,
      ...(request.media_buy_id !== undefined && { media_buy_id: request.media_buy_id }),
      ...(request.package_id !== undefined && { package_id: request.package_id }),
    };
    const source: Manifest = { format_id: found.format_id, assets: single(found.assets) };
    const manifests = targets.map((of) => makeTag(call, owner, of, place, source).manifest);
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
  const targets = targetsOf(call, request, given?.format_id);
  if (request.message !== undefined) {
    const catalog = catalogFor(call, request.message, request.item_limit);
    return { manifests: targets.map((of) => generate(call, request, of, catalog)), catalog, cost: {} };
  }
  if (given === undefined) {
    throw new ToolError("INVALID_REQUEST", "say what to build from: message, creative_manifest or creative_id", {
      field: "creative_manifest",
    });
  }
  return { manifests: targets.map((of) => transform(call, given, of)), cost: {} };
}

/** `build_creative`: from the library, from another creative, or from words. */
export function buildCreative(call: Call, request: Build): JsonObject {
  const { manifests: raw, catalog, cost } = build(call, request);
  const manifests = raw.map((manifest) => filled(manifest, request.macro_values));
  const [first] = manifests as [Manifest];
  const many = request.target_format_ids !== undefined;
  const output = request.preview_output_format;
  const inputs = many ? undefined : (extra(request, "preview_inputs") as readonly PreviewInput[] | undefined);
  const previews =
    request.include_preview !== true
      ? undefined
      : manifests.flatMap((manifest) =>
          previewsOf(call, manifest, { output, inputs, catalog, field: "creative_manifest" }).map((one) =>
            many ? { format_id: manifest.format_id, ...one } : one,
          ),
        );
  return {
    ...(many ? { creative_manifests: manifests } : { creative_manifest: first }),
    expires_at: expiry(call, request),
    ...cost,
    ...(previews !== undefined && { preview: { previews, expires_at: previewsExpire(call) } }),
  };
}
