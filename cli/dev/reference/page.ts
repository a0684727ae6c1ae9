/** A page of the reference. */
export interface ReferencePage {
  /** From docs/reference/. */
  readonly file: string;
  readonly text: string;
}

/**
 * A text of a source as markdown: angle brackets and braces outside of code are no markup, and a page of ours is a link.
 * @param up from the page to docs/, such as `../`
 */
export const asMarkdown = (text: string, up: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith("`")
        ? part
        : part
            .replace(/[<{]/g, (mark) => (mark === "<" ? "&lt;" : "&#123;"))
            .replace(/\bdocs\/([\w/-]+\.md(?:#[\w-]+)?)/g, (_all, page: string) => `[${page}](${up}${page})`),
    )
    .join("");

/** A text inside a table. */
export const cell = (text: string): string => text.replace(/\s+/g, " ").replace(/\|/g, "\\|").trim();

/** A page that nobody edits by hand. */
export const referencePage = (file: string, title: string, lines: readonly string[]): ReferencePage => ({
  file,
  text: `${["<!-- made by ./run reference; do not edit -->", "", `# ${title}`, "", ...lines].join("\n").trimEnd()}\n`,
});

/** A table; cells may hold anything that is markdown. */
export const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `| ${head.join(" | ")} |`,
  `| ${head.map(() => "---").join(" | ")} |`,
  ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`),
];
