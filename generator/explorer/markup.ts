/** Text of pages. A release is a stranger's text: everything put into a page is escaped, unless it was made here too. */

/** Markup that was made here. */
export class Markup {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

export type Insert = Markup | string | number | false | undefined | readonly Insert[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Characters that turn the direction of what follows would show a name as another one. */
const turning = /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g;

const escaped = (text: string): string =>
  text.replace(turning, "\ufffd").replace(/[&<>"']/g, (character) => entities[character]!);

const textOf = (part: Insert): string => {
  if (part instanceof Markup) return part.text;
  if (typeof part === "object") return part.map(textOf).join("");
  return part === undefined || part === false ? "" : escaped(String(part));
};

/** Tag for markup: absent parts and false become nothing, lists are joined. */
export const markup = (strings: TemplateStringsArray, ...parts: readonly Insert[]): Markup =>
  new Markup(strings.reduce((text, piece, at) => text + piece + textOf(parts[at]), ""));

/** Text as Markdown that shows it: nothing in it is a mark, a link or HTML. */
export const plainMarkdown = (text: string): string =>
  text
    .replace(turning, "\ufffd")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_[\]|~]/g, (character) => `\\${character}`)
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    // A text that begins like a heading, a list or a rule is none.
    .replace(/^([#+=-]|\d+[.)])/, "\\$1");

/** Text as a span of code in Markdown. */
export function codeMarkdown(text: string): string {
  const line = text.replace(turning, "\ufffd").replace(/\s+/g, " ").trim();
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `\`${line}\`` : `${fence} ${line} ${fence}`;
}

/**
 * A value as a script can hold it in a page or a file: no end of a script, no comment, no line that a parser takes for one.
 * It is a text for JSON.parse, which reads megabytes many times as fast as a browser compiles them.
 */
export const scriptText = (value: unknown): string => {
  const json = JSON.stringify(value).replace(
    /[<>\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `'${json.replace(/[\\']/g, "\\$&")}'`;
};
