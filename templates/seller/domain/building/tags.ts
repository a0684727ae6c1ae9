/** Serving tags: what a page or a player loads to show a creative of the library. */
import type { JsonObject } from "adbind/contract";
import type { Call } from "../../handler.js";
import { type Format, formatId } from "../formats/formats.js";
import { host } from "./hosted.js";
import { type Manifest, sizeOf, typesOf } from "./manifest.js";
import { escapeHtml, renderPage } from "./render.js";

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

/** How long what a tag loads is served, in days. */
const SERVED_DAYS = 365;

const cdata = (text: string): string => `<![CDATA[${text.replaceAll("]]>", "]]]]><![CDATA[>")}]]>`;

/** A player's answer: the video of the creative. */
function vastOf(call: Call, tagId: string, { assets }: Manifest): string {
  const files = Object.values(assets)
    .filter(({ asset_type, url }) => asset_type === "video" && typeof url === "string")
    .map(
      ({ url, width = 1920, height = 1080 }) =>
        `<MediaFile delivery="progressive" type="video/mp4" width="${Number(width)}" height="${Number(height)}">${cdata(String(url))}</MediaFile>`,
    );
  return (
    `<VAST version="4.2"><Ad id="${tagId}"><InLine><AdSystem>${escapeHtml(call.name)}</AdSystem><AdTitle>${tagId}</AdTitle>` +
    `<Creatives><Creative><Linear><MediaFiles>${files.join("")}</MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>`
  );
}

/** Where the place is told, for whoever reads the requests. Macros are the player's to fill. */
const query = ({ media_buy_id, package_id }: TagRequest): string =>
  [
    ["mb", media_buy_id],
    ["pkg", package_id],
  ]
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .concat("cb={CACHEBUSTER}")
    .join("&");

/** The tag in the format's terms, and what it loads. */
function tagAsset(call: Call, tagId: string, of: Format, request: TagRequest, source: Manifest): Manifest["assets"] {
  const types = typesOf(of);
  const player = types.has("vast") || types.has("video");
  const { width, height } = sizeOf(of);
  const { url } = host(call, {
    type: player ? "application/xml" : "text/html; charset=utf-8",
    content: player ? vastOf(call, tagId, source) : renderPage(source, { size: { width, height } }),
    expires: new Date(call.now.getTime() + SERVED_DAYS * 86_400_000).toISOString(),
  });
  const address = `${url}?${query(request)}`;
  if (player) {
    const wrapper =
      `<VAST version="4.2"><Ad id="${tagId}"><Wrapper><AdSystem>${escapeHtml(call.name)}</AdSystem>` +
      `<VASTAdTagURI>${cdata(address)}</VASTAdTagURI></Wrapper></Ad></VAST>`;
    return { vast_tag: { asset_type: "vast", delivery_type: "inline", content: wrapper, vast_version: "4.2" } };
  }
  const frame = `<iframe src="${escapeHtml(address)}" width="${width}" height="${height}" frameborder="0" scrolling="no" title="Advertisement"></iframe>`;
  if (types.has("javascript")) {
    return { js_tag: { asset_type: "javascript", content: `document.write(${JSON.stringify(frame)});` } };
  }
  return { html_tag: { asset_type: "html", content: `<a href="{CLICK_URL}">${frame}</a>` } };
}

/**
 * Makes a tag for one place; each call makes another, so that places are counted apart.
 * @param source the creative of the library
 */
export function makeTag(call: Call, owner: string, of: Format, request: TagRequest, source: Manifest): ServingTag {
  const tagId = call.id("tag");
  const assets = tagAsset(call, tagId, of, request, source);
  const manifest: Manifest = { format_id: formatId(call, of.id), assets };
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
