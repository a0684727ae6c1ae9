/** The shortest text a regular expression of a schema allows: for what is not among the usual texts, such as digests. */

/** One thing that may be repeated: a class, an escape, any character, or a literal; groups are left to luck. */
const ITEM = /(?<one>\[(?:\\.|[^\]\\])+\]|\\.|[^\\[\](){}|^$*+?])(?<count>\{(?<least>\d+)(?:,\d*)?\}|[*+?])?/y;

const escapes: Readonly<Record<string, string>> = { d: "0", w: "a", s: " " };

/** A character the item allows. */
function characterOf(item: string): string {
  if (item.startsWith("[")) {
    const allowed = new RegExp(item, "u");
    for (const character of "0aA-_.:/ ") if (allowed.test(character)) return character;
    return "";
  }
  if (item.startsWith("\\")) return escapes[item[1]!] ?? item[1]!;
  return item === "." ? "a" : item;
}

/** @returns undefined for an expression with groups or choices, which no text is made for */
export function textMatching(pattern: string): string | undefined {
  const expression = pattern.replace(/^\^/, "").replace(/\$$/, "");
  let text = "";
  for (let at = 0; at < expression.length; at = ITEM.lastIndex) {
    ITEM.lastIndex = at;
    const { one, count, least } = ITEM.exec(expression)?.groups ?? {};
    if (one === undefined) return undefined;
    const times = least !== undefined ? Number(least) : count === "*" || count === "?" ? 0 : 1;
    text += characterOf(one).repeat(times);
  }
  return text;
}
