/** Serving tags: what a page or a player loads to show a creative of the library. */
import type { JsonObject } from "adbind/contract";
import type { Call } from "../../handler.js";
import { type Format, formatId } from "../formats/formats.js";
import { type Asset, type Manifest, sizeOf, typesOf } from "./manifest.js";
import { escapeHtml } from "./render.js";

/** A tag that was given out: what delivery is reported by. */
export interface ServingTag {
  readonly tag_id: string;
  readonly creative_id: string;
  readonly media_buy_id?: string;
  readonly package_id?: string;
  readonly manifest: Manifest;
  readonly created: string;
}

const KIND = "serving_tag";

export const tagsOf = (call: Call, owner: string): ServingTag[] => call.documents.list<ServingTag>(KIND, owner);

export const tag = (call: Call, owner: string, id: string): ServingTag | undefined =>
  call.documents.get<ServingTag>(KIND, owner, id);

export interface TagRequest {
  readonly creative_id: string;
  readonly media_buy_id?: string;
  readonly package_id?: string;
}

/** The address a tag is served from. Macros are the player's to fill. */
function addressOf(call: Call, tagId: string, { media_buy_id, package_id }: TagRequest): string {
  const query = [
    ["mb", media_buy_id],
    ["pkg", package_id],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]));
  return `${new URL(call.agentUrl).origin}/serve/${tagId}?${[...query, "cb={CACHEBUSTER}"].join("&")}`;
}

function tagAsset(of: Format, address: string): { readonly [name: string]: Asset } {
  const types = typesOf(of);
  if (types.has("vast") || types.has("video")) {
    return { vast_tag: { asset_type: "vast", delivery_type: "url", url: address, vast_version: "4.2" } };
  }
  if (types.has("javascript")) {
    return {
      js_tag: { asset_type: "javascript", content: `document.write('<script src="${address}"></'+'script>');` },
    };
  }
  const { width, height } = sizeOf(of);
  const frame = `<iframe src="${escapeHtml(address)}" width="${width}" height="${height}" frameborder="0" scrolling="no" title="Advertisement"></iframe>`;
  return { html_tag: { asset_type: "html", content: `<a href="{CLICK_URL}">${frame}</a>` } };
}

/** Makes a tag for one place; each call makes another, so that places are counted apart. */
export function makeTag(call: Call, owner: string, of: Format, request: TagRequest): ServingTag {
  const tagId = call.id("tag");
  const manifest: Manifest = {
    format_id: formatId(call, of.id),
    assets: tagAsset(of, addressOf(call, tagId, request)),
  };
  const { creative_id, media_buy_id, package_id } = request;
  const made: ServingTag = {
    tag_id: tagId,
    creative_id,
    ...(media_buy_id !== undefined && { media_buy_id }),
    ...(package_id !== undefined && { package_id }),
    manifest,
    created: call.now.toISOString(),
  };
  call.documents.put(KIND, owner, tagId, made as unknown as JsonObject);
  return made;
}
