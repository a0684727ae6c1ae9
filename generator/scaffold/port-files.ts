/** The files that a project's ports stand in: one for each, and no more than two. */
import type { TemplateFiles } from "./template-files.js";

/** A port that a project fills in. */
export interface Port {
  readonly file: string;
  readonly port: string;
  /** For the README. */
  readonly about: string;
}

interface PortFile {
  readonly file: string;
  readonly ports: readonly Port[];
}

/** Whose file they share where there would be too many: what is offered, and what becomes of orders. */
const shared: Readonly<Record<string, string>> = {
  signals: "catalogue",
  creatives: "catalogue",
  reporting: "ad-server",
  events: "ad-server",
  audiences: "ad-server",
  collections: "properties",
  policy: "properties",
};

/** As many as a newcomer reads; what the others have by default is in the library. */
const MOST_PORTS = 4;

/** As many as leave a project with twelve files. */
const MOST_FILES = 2;

/** Ports that no file is written for. */
export const leftToDefaults = (ports: readonly Port[]): readonly Port[] => ports.slice(MOST_PORTS);

/** Ports by the file they stand in; those that come last are left to their defaults where there are many. */
export function portFiles(ports: readonly Port[]): PortFile[] {
  const written = ports.slice(0, MOST_PORTS);
  const together = written.length > MOST_FILES;
  const taken = new Set<string>();
  const groups = new Map<string, Port[]>();
  for (const one of written) {
    const own = together ? (shared[one.file] ?? one.file) : one.file;
    // The files that are there take in what comes after them.
    const file = taken.size < MOST_FILES || taken.has(own) ? own : [...taken].at(-1)!;
    taken.add(file);
    groups.set(file, [...(groups.get(file) ?? []), one]);
  }
  return [...groups].map(([file, ports]) => ({ file, ports }));
}

export const portFileText = (files: TemplateFiles, { ports }: PortFile): string =>
  joined(ports.map(({ file }) => files.get(`src/${file}.ts`)!));

/** A file's first comment, its imports, and the rest. */
const parts = /^(?<head>\/\*\*[\s\S]*?\*\/\n)(?<imports>(?:import .*;\n)*)\n*(?<rest>[\s\S]*)$/;

/** Several files as one: the first one's comment heads it, the others' stand over what is theirs. */
function joined(texts: readonly string[]): string {
  if (texts.length === 1) return texts[0]!;
  const split = texts.map((text) => parts.exec(text)!.groups as { head: string; imports: string; rest: string });
  const heads = split.map(({ head }, at) => (at === 0 ? "" : head.replace(/^\/\*\* ?/, "// ").replace(/ ?\*\//, "")));
  const sections = split.map(({ rest }, at) => (heads[at] === "" ? rest : `${heads[at]}\n${rest}`));
  return `${split[0]!.head}${importLines(split.map(({ imports }) => imports).join(""))}\n${sections.join("\n")}`;
}

/** Columns of a line, as the templates are written. */
const WIDTH = 120;

/** Each module once, with all that is taken from it. */
function importLines(text: string): string {
  const modules = new Map<string, Set<string>>();
  for (const [, type, names = "", from = ""] of text.matchAll(/^import (type )?\{ (.*) \} from (".*");$/gm)) {
    const known = modules.get(from) ?? new Set();
    for (const name of names.split(", ")) known.add(type === undefined ? name : `type ${name}`);
    modules.set(from, known);
  }
  const bare = (name: string): string => name.replace(/^type /, "").toLowerCase();
  const order = (a: string, b: string): number => (a < b ? -1 : 1);
  const lines = [...modules]
    .sort()
    .reverse()
    .map(([from, names]) => {
      const sorted = [...names].sort((a, b) => order(bare(a), bare(b)));
      const line = `import { ${sorted.join(", ")} } from ${from};`;
      return line.length <= WIDTH ? line : `import {\n${sorted.map((name) => `  ${name},\n`).join("")}} from ${from};`;
    });
  return lines.map((line) => `${line}\n`).join("");
}
