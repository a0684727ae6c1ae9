/** URLs that a preview's HTML would have a browser ask for, as raw text: what a parser would mend stays as it was sent. */

/** The attributes that test-kits/substitution-observer-runner.yaml lists; no other is looked at. */
const tracked: ReadonlySet<string> = new Set([
  "a.href",
  "img.src",
  "img.srcset",
  "iframe.src",
  "source.src",
  "source.srcset",
  "link.href",
  "meta.content",
  "*.data-impression-url",
  "*.data-click-url",
  "*.data-tracker-url",
  "*.data-vast-url",
]);

/** Comments, and elements whose text is no markup. */
const OPAQUE = /<!--[\s\S]*?(?:-->|$)|(<(script|style|textarea|title)\b[^>]*>)[\s\S]*?(?:<\/\2\s*>|$)/gi;
const TAG = /<([a-z][\w:-]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/gi;
const ATTRIBUTE = /([^\s"'<>/=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))/g;

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const decoded = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()]!;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });

/** `0; url=...` of a refresh, and the URLs of a set of images; else the attribute itself. */
function urlsOf(attribute: string, value: string): string[] {
  if (attribute === "srcset") return value.split(/,\s+|,(?=https?:)/).map((one) => one.trim().split(/\s+/)[0] ?? "");
  if (attribute === "content") return [value.replace(/^\s*\d+\s*;\s*url\s*=\s*/i, "")];
  return [value.trim()];
}

/** Every URL of the listed attributes, in the order of the text. */
export function trackerUrls(html: string): string[] {
  const markup = html.replace(OPAQUE, (_whole, open: string | undefined) => open ?? "");
  return [...markup.matchAll(TAG)].flatMap(([, tag = "", attributes = ""]) =>
    [...attributes.matchAll(ATTRIBUTE)].flatMap(([, name = "", double, single, bare]) => {
      const attribute = name.toLowerCase();
      if (!tracked.has(`${tag.toLowerCase()}.${attribute}`) && !tracked.has(`*.${attribute}`)) return [];
      return urlsOf(attribute, decoded(double ?? single ?? bare ?? "")).filter((url) => url !== "");
    }),
  );
}

interface UrlParts {
  readonly scheme: string;
  readonly host: string;
  readonly path: readonly string[];
  readonly query: readonly (readonly [key: string, value: string])[];
}

/** RFC 3986, appendix B: the parts as they are written, nothing decoded. Relative ones stand under a base of their own. */
function partsOf(url: string): UrlParts {
  const [, scheme = "https", host = "observer.test", path = "", query = ""] =
    /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/s.exec(url) ?? [];
  return {
    scheme: scheme.toLowerCase(),
    host: host.toLowerCase(),
    path: path.split("/"),
    query: query.split("&").map((pair) => {
      const at = pair.indexOf("=");
      return at < 0 ? ([pair, ""] as const) : ([pair.slice(0, at), pair.slice(at + 1)] as const);
    }),
  };
}

const readable = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** What stands in a value where the template's value has the macro; undefined where the rest differs. */
function inPlace(template: string, macro: string, value: string): string | undefined {
  const [before = "", after = ""] = template.split(macro);
  const fits = value.length >= before.length + after.length && value.startsWith(before) && value.endsWith(after);
  return fits ? value.slice(before.length, value.length - after.length) : undefined;
}

/**
 * What a URL has where its template has a macro, in the template's order: query pairs by key and place among those of the
 * key, segments of the path by place.
 */
export function atMacro(template: string, macro: string, url: string): string[] {
  const wanted = partsOf(template);
  const got = partsOf(url);
  if (wanted.host !== got.host) return [];
  const found: (string | undefined)[] = wanted.path.map((segment, index) =>
    segment.includes(macro) ? inPlace(segment, macro, got.path[index] ?? "") : undefined,
  );
  for (const [index, [key, value]] of wanted.query.entries()) {
    if (!value.includes(macro)) continue;
    const place = wanted.query.slice(0, index).filter(([other]) => readable(other) === readable(key)).length;
    const pair = got.query.filter(([other]) => readable(other) === readable(key))[place];
    if (pair !== undefined) found.push(inPlace(value, macro, pair[1]));
  }
  return found.filter((one) => one !== undefined);
}

export const schemeOf = (url: string): string => partsOf(url).scheme;
