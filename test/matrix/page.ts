/** The page of results: specialisms by releases. */

/** By specialism, then by version: whether nothing was wrong. */
export type Results = Map<string, Map<string, boolean>>;

const shown = { true: "yes", false: "no", undefined: "" } as const;
const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;

/** @returns Markdown */
export function page(results: Results, versions: readonly string[]): string {
  const body = [...results]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, by]) => line([id, ...versions.map((version) => shown[`${by.get(version)}`])]));
  const all = [...results.values()].flatMap((by) => [...by.values()]);
  const passed = all.filter((one) => one).length;
  const head = line(["", ...versions]) + line(["---", ...versions.map(() => "---")]);
  return `# Every specialism on every release

For each specialism of a seller on each release \`./run matrix\` writes a project with \`adbind new\`, compiles it strictly, starts it,
asks it with \`adbind check --mutating\`, and has a buyer live a life with it: find, order, fill, change, report, cancel, as far as the
specialism has them. A cell is \`yes\` where nothing was wrong, and every tool that the specialism begins with was answered by its
completed or submitted arm; it is empty where the release has no such specialism. \`./run matrix --out docs/matrix.md\` writes this page.

${head}${body.join("")}
cells: ${passed} passed, ${all.length - passed} failed
`;
}
