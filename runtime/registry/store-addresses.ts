/** Addresses in application stores, as the identifiers that files name applications by. */

/** A host of a store, and where the identifier is in an address there. */
const stores: readonly (readonly [host: RegExp, type: string, find: (url: URL) => string | undefined])[] = [
  [/^apps\.apple\.com$|^itunes\.apple\.com$/, "apple_app_store_id", ({ pathname }) => /\/id(\d+)/.exec(pathname)?.[1]],
  [/^play\.google\.com$/, "google_play_id", ({ searchParams }) => searchParams.get("id") ?? undefined],
  [/^channelstore\.roku\.com$/, "roku_store_id", ({ pathname }) => /\/details\/([^/]+)/.exec(pathname)?.[1]],
  [/^(?:www\.)?amazon\.[a-z.]+$/, "fire_tv_asin", ({ pathname }) => /\/dp\/([A-Z0-9]{10})/i.exec(pathname)?.[1]],
  [/^podcasts\.apple\.com$/, "apple_podcast_id", ({ pathname }) => /\/id(\d+)/.exec(pathname)?.[1]],
];

/**
 * @param text an http or https address
 * @returns the identifier in lower case, as they are compared; undefined for what is no address of an application
 */
export function storeIdentifier(text: string): { type: string; value: string } | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  for (const [host, type, find] of stores) {
    const value = host.test(url.hostname) ? find(url) : undefined;
    if (value !== undefined) return { type, value: value.toLowerCase() };
  }
  return undefined;
}
