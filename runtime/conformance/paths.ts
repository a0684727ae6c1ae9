/** Paths of storyboards, `a.b[0].c`: own properties only, so that no name reaches a prototype. */

/** Values that one path with wildcards may stand for. */
const MAX_VALUES = 10_000;

export interface FoundValue {
  /** JSON pointer (RFC 6901). */
  readonly pointer: string;
  /** Undefined where there is nothing. */
  readonly value: unknown;
}

/** `*` stands for every item. */
const tokensOf = (path: string): string[] =>
  path
    .replace(/^\$\.?/, "")
    .replaceAll("[]", "[*]")
    .split(/\.|\[|\]/)
    .filter((token) => token !== "");

const escaped = (token: string): string => token.replaceAll("~", "~0").replaceAll("/", "~1");

export const pointerOfPath = (path: string): string =>
  tokensOf(path)
    .map((token) => `/${escaped(token)}`)
    .join("");

function child(value: unknown, token: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return /^\d+$/.test(token) ? value[Number(token)] : undefined;
  return Object.hasOwn(value, token) ? (value as Record<string, unknown>)[token] : undefined;
}

/** The one value of a path; a wildcard in it stands for nothing. */
export const fieldAt = (root: unknown, path: string): unknown =>
  tokensOf(path).reduce<unknown>((value, token) => child(value, token), root);

/** Every value a path stands for, those that are there. */
export function valuesAt(root: unknown, path: string): FoundValue[] {
  let found: FoundValue[] = [{ pointer: "", value: root }];
  for (const token of tokensOf(path)) {
    const next: FoundValue[] = [];
    for (const { pointer, value } of found) {
      if (token === "*") {
        if (!Array.isArray(value)) continue;
        for (const [index, item] of value.entries()) {
          if (next.length >= MAX_VALUES) break;
          next.push({ pointer: `${pointer}/${index}`, value: item });
        }
      } else {
        const item = child(value, token);
        if (item !== undefined) next.push({ pointer: `${pointer}/${escaped(token)}`, value: item });
      }
    }
    found = next;
  }
  return found;
}

export const hasWildcard = (path: string): boolean => path.includes("[*]") || path.includes("[]");
