/** Draws a creative as a page. */
import type { Dimensions } from "../ports/creatives.js";
import { fillLiteral, fillUrl, itemMacros } from "./macros.js";
import type { CreativeManifest, ManifestAsset } from "./manifest.js";

/** Marks that turn the direction of text around would make it read otherwise than it is. */
const bidi = /[\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

export const escapeHtml = (text: string): string =>
  text.replace(bidi, "").replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** Items of a catalogue that a creative is about. */
export interface CatalogItems {
  readonly catalogId: string;
  readonly items: readonly { readonly [field: string]: unknown }[];
}

export interface PageDrawing {
  readonly size: Dimensions;
  /** Values of macros, as they are. */
  readonly macros?: { readonly [name: string]: string };
  readonly catalog?: CatalogItems;
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

type Named = readonly [name: string, asset: ManifestAsset];

const ofType = (assets: readonly Named[], type: string): Named[] => assets.filter(([, one]) => one.asset_type === type);

const urlOf = ([, asset]: Named): string => textOf(asset.url) ?? "";

const isClick = ([name, asset]: Named): boolean => asset.url_type === "clickthrough" || /click/.test(name);

/** Only web addresses are put into pages. */
const web = (url: string): string => (/^https?:\/\//i.test(url) ? escapeHtml(url) : "about:blank");

function body(
  assets: readonly Named[],
  fill: (url: string) => string,
  macros: { readonly [name: string]: string },
): string {
  const say = (text: unknown): string => escapeHtml(fillLiteral(textOf(text) ?? "", macros));
  const images = ofType(assets, "image").map(
    (one) => `<img class="main" src="${web(fill(urlOf(one)))}" alt="${say(one[1].alt_text)}">`,
  );
  const videos = ofType(assets, "video").map((one) => `<video controls src="${web(fill(urlOf(one)))}"></video>`);
  const tags = ofType(assets, "vast").map((one) => `<p class="tag">VAST: ${say(one[1].url ?? "inline")}</p>`);
  const texts = ofType(assets, "text").map(([name, one]) => `<p class="${escapeHtml(name)}">${say(one.content)}</p>`);
  const urls = ofType(assets, "url");
  const click = urls.find(isClick);
  const inner = [...images, ...videos, ...tags, ...texts].join("");
  const pixels = urls
    .filter((one) => !isClick(one))
    .map((one) => `<img class="pixel" width="1" height="1" alt="" src="${web(fill(urlOf(one)))}">`);
  return `${click === undefined ? inner : `<a target="_blank" rel="noopener" href="${web(fill(urlOf(click)))}">${inner}</a>`}${pixels.join("")}`;
}

const css = ({ width, height }: Dimensions): string =>
  `body{margin:0;font-family:sans-serif}.ad{position:relative;width:${width}px;height:${height}px;overflow:hidden}` +
  ".ad a{color:inherit;text-decoration:none}.main{width:100%;height:100%;object-fit:cover;position:absolute}" +
  ".ad p{position:relative;margin:4px;padding:2px 6px;background:#fffc}.pixel{position:absolute;opacity:0}";

/** A page with the creative; once per item where it is about a catalogue's. */
export function renderPage({ assets }: CreativeManifest, { size, macros = {}, catalog }: PageDrawing): string {
  const named = Object.entries(assets);
  const plain = (url: string): string => fillLiteral(url, macros);
  const ads =
    catalog === undefined || catalog.items.length === 0
      ? [body(named, plain, macros)]
      : catalog.items.map((item) => {
          const values = itemMacros(item, catalog.catalogId);
          return body(named, (url) => plain(fillUrl(url, values)), { ...values, ...macros });
        });
  const content = ads.map((ad) => `<div class="ad">${ad}</div>`).join("");
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><style>${css(size)}</style></head><body>${content}</body></html>`;
}
