/**
 * Writes copy and draws images from a brief. Everything it makes follows from the brief and the brand; put a generative
 * model in its place where there is one.
 */
import type { Copy, Dimensions, Palette } from "../ports/creatives.js";
import { escapeHtml } from "../previews/render.js";

const LONGEST_HEADLINE = 80;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const quotedAfter = (message: string, word: RegExp): string | undefined => {
  const at = message.search(word);
  return at < 0 ? undefined : /["'“‘]([^"'”’]{1,80})["'”’]/.exec(message.slice(at))?.[1];
};

/** Copy for a brief; what `before` had stays unless the brief changes it. */
export function writeCopy(message: string, before: Partial<Copy> = {}): Copy {
  const subject = /\bfor (?:an?|the|our) ([^.,;]+)/i.exec(message)?.[1];
  const stress = /\bemphasi[sz]e ([^.,;]+)/i.exec(message)?.[1];
  const fresh = [subject === undefined ? undefined : capital(subject.trim()), stress?.trim()]
    .filter(Boolean)
    .join(" — ");
  const first = message.split(/[.!?]/)[0]?.trim() ?? "";
  return {
    headline: (quotedAfter(message, /headline/i) ?? before.headline ?? (fresh || capital(first))).slice(
      0,
      LONGEST_HEADLINE,
    ),
    cta: quotedAfter(message, /\bcta\b|call to action|button/i) ?? before.cta ?? "Learn more",
  };
}

/** Colours where nobody knows those of the brand. */
export const plainPalette: Palette = { primary: "#1F3A5F", accent: "#F2A900" };

/** An image that says what it is about: its description stands in it. */
export function drawImage(about: string, { width, height }: Dimensions, { primary, accent }: Palette): string {
  const font = Math.max(10, Math.round(Math.min(height / 8, width / 18)));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<rect width="100%" height="100%" fill="${escapeHtml(primary)}"/>` +
    `<path d="M0 ${height} L${width / 3} ${height / 3} L${(2 * width) / 3} ${height} Z" fill="${escapeHtml(accent)}"/>` +
    `<text x="50%" y="50%" text-anchor="middle" font-family="sans-serif" font-size="${font}" fill="#fff">${escapeHtml(about)}</text></svg>`
  );
}
