/** Links of a built site, followed. */
import path from "node:path";

export interface SiteFacts {
  /** Where the site stands on its host, with a slash at both ends. */
  readonly base: string;
  /** Whether another file than a page is there, by its path in the site. */
  readonly others: (file: string) => boolean;
}

/** @returns page and link, of each that leads nowhere. Links to other hosts are not followed. */
export function deadLinks(pages: ReadonlyMap<string, string>, { base, others }: SiteFacts): string[] {
  const ids = new Map<string, ReadonlySet<string>>();
  for (const [page, text] of pages)
    ids.set(page, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id)));
  const targetOf = (page: string, link: string): string => {
    const place = link.startsWith("/") ? link.slice(base.length) : path.posix.join(path.posix.dirname(page), link);
    return place === "" || place === "." || place.endsWith("/") ? `${place === "." ? "" : place}index.html` : place;
  };
  return [...pages].flatMap(([page, text]) =>
    [...text.matchAll(/<a [^>]*?href="([^"]*)"/g)].flatMap(([, href = ""]) => {
      if (/^[a-z]+:|^\/\//.test(href)) return [];
      const [link = "", fragment = ""] = href.split("#");
      const target = link === "" ? page : targetOf(page, link);
      const there = ids.get(target);
      if (there === undefined) return others(target) ? [] : [`${page}: ${href}`];
      return fragment === "" || there.has(decodeURIComponent(fragment)) ? [] : [`${page}: ${href}`];
    }),
  );
}
