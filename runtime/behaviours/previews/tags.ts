/** Serving tags: what a page or a player loads to show a creative of the library. */

import { formatId } from "../formats/formats.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection, type DocumentOwner } from "../frame/collection.js";
import type { CreativeFormat } from "../ports/creatives.js";
import { host, unhost } from "./hosted.js";
import { assetTypesOf, type CreativeManifest, sizeOf } from "./manifest.js";
import { escapeHtml, renderPage } from "./render.js";

/** A tag that was given out: what delivery is reported by. */
export interface ServingTag {
  readonly tag_id: string;
  readonly creative_id: string;
  readonly media_buy_id?: string;
  readonly package_id?: string;
  readonly manifest: CreativeManifest;
  readonly created: string;
}

const kept = collection<ServingTag>("serving_tag");

export const tagsOf = (call: BehaviourCall, owner: DocumentOwner): Promise<ServingTag[]> => kept.list(call, owner);

export const findTag = (call: BehaviourCall, owner: DocumentOwner, id: string): Promise<ServingTag | undefined> =>
  kept.get(call, owner, id);

export interface TagRequest {
  readonly creative_id: string;
  readonly media_buy_id?: string;
  readonly package_id?: string;
}

/** What tags load, by its id: of whichever account they are, it is of one creative of the caller's. */
const loaded = collection<{ readonly creative_id: string }>("tag_content");

/** A creative that was destroyed is shown by none of its tags any more: what they load is gone. */
export async function emptyTags(call: BehaviourCall, creativeId: string): Promise<void> {
  for (const id of await loaded.ids(call, call.principal)) {
    const found = await loaded.get(call, call.principal, id);
    if (found?.creative_id !== creativeId) continue;
    unhost(call, id);
    loaded.remove(call, call.principal, id);
  }
}

/** How long what a tag loads is served, in days. */
const SERVED_DAYS = 365;

const cdata = (text: string): string => `<![CDATA[${text.replaceAll("]]>", "]]]]><![CDATA[>")}]]>`;

/** A player's answer: the video of the creative. */
function vastOf(call: BehaviourCall, tagId: string, { assets }: CreativeManifest): string {
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
function tagAsset(
  call: BehaviourCall,
  tagId: string,
  of: CreativeFormat,
  request: TagRequest,
  source: CreativeManifest,
): CreativeManifest["assets"] {
  const types = assetTypesOf(of);
  const player = types.has("vast") || types.has("video");
  const { width, height } = sizeOf(of);
  const { id, url } = host(call, {
    type: player ? "application/xml" : "text/html; charset=utf-8",
    content: player ? vastOf(call, tagId, source) : renderPage(source, { size: { width, height } }),
    expires: new Date(call.now.getTime() + SERVED_DAYS * 86_400_000).toISOString(),
  });
  loaded.put(call, call.principal, id, { creative_id: request.creative_id });
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
 * @param place with the tag's id, which is the same where the call is repeated: who serves it was told of it
 * @param source the creative of the library
 */
export function makeTag(
  call: BehaviourCall,
  owner: DocumentOwner,
  of: CreativeFormat,
  place: TagRequest & { readonly tag_id: string },
  source: CreativeManifest,
): ServingTag {
  const { tag_id: tagId } = place;
  const assets = tagAsset(call, tagId, of, place, source);
  const manifest: CreativeManifest = { format_id: formatId(call, of), assets };
  const { creative_id, media_buy_id, package_id } = place;
  const made: ServingTag = {
    tag_id: tagId,
    creative_id,
    ...(media_buy_id !== undefined && { media_buy_id }),
    ...(package_id !== undefined && { package_id }),
    manifest,
    created: call.time,
  };
  kept.put(call, owner, tagId, made);
  return made;
}
