/** The files of a project that list what it has. */
import type { AreaPart } from "./template-files.js";

/** `media-buys` -> `mediaBuys` */
const ident = (name: string): string => name.replace(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());

export function toolsList(tools: readonly string[]): string {
  const additions = tools.map(toolAddition);
  return [
    "/** Every tool this seller answers, by its name on the wire. */",
    ...additions.map(({ importLine }) => importLine),
    "",
    "export const tools = {",
    ...additions.map(({ entry }) => `  ${entry}`),
    "};",
    "",
  ].join("\n");
}

/** An import from the list's own folder or below, and the type of what it lists. */
interface ListShape {
  readonly about: string;
  readonly typeImport: string;
  readonly typed: string;
  readonly brackets: readonly [open: string, close: string];
  readonly entry: (ident: string) => string;
}

const shapes: { readonly [P in AreaPart]: ListShape } = {
  fixtures: {
    about: "What the seller starts with: one list per area of the domain.",
    typeImport: 'import type { Fixture } from "./documents.js";',
    typed: "fixtures: readonly Fixture[]",
    brackets: ["[", "]"],
    entry: (one) => `...${one},`,
  },
  scenarios: {
    about: "What the test controller can bring about: one table per area of the domain. Development only.",
    typeImport: 'import type { Scenarios } from "./domain/controller/scenario.js";',
    typed: "scenarios: Scenarios",
    brackets: ["{", "}"],
    entry: (one) => `...${one},`,
  },
  capabilities: {
    about: "What this seller can do beyond what its tools tell: one part per area of the domain.",
    typeImport: 'import type { Capabilities } from "./handler.js";',
    typed: "capabilities: readonly Capabilities[]",
    brackets: ["[", "]"],
    entry: (one) => `${one},`,
  },
  checks: {
    about: "What is asked before an account's money is spent: one part per area of the domain.",
    typeImport: 'import type { SpendingCheck } from "./handler.js";',
    typed: "checks: readonly SpendingCheck[]",
    brackets: ["[", "]"],
    entry: (one) => `${one},`,
  },
  listeners: {
    about: "Who is told that a creative has changed: one part per area of the domain.",
    typeImport: 'import type { CreativeListener } from "./handler.js";',
    typed: "listeners: readonly CreativeListener[]",
    brackets: ["[", "]"],
    entry: (one) => `${one},`,
  },
  reports: {
    about: "Who makes delivery reports when they are due: one part per area of the domain.",
    typeImport: 'import type { ReportMaker } from "./handler.js";',
    typed: "reports: readonly ReportMaker[]",
    brackets: ["[", "]"],
    entry: (one) => `${one},`,
  },
  routes: {
    about: "What this seller serves beside its tools: one part per area of the domain.",
    typeImport: 'import type { Routes } from "./handler.js";',
    typed: "routes: readonly Routes[]",
    brackets: ["[", "]"],
    entry: (one) => `${one},`,
  },
};

/** What a list gets for one more of its kind: an import, and an entry on a line of its own. */
export interface Addition {
  readonly from: string;
  readonly importLine: string;
  readonly entry: string;
}

export const areaAddition = (part: AreaPart, name: string): Addition => ({
  from: `./domain/${name}/${part}.js`,
  importLine: `import { ${part} as ${ident(name)} } from "./domain/${name}/${part}.js";`,
  entry: shapes[part].entry(ident(name)),
});

export const toolAddition = (tool: string): Addition => {
  const from = `./${tool.replaceAll("_", "-")}.js`;
  return { from, importLine: `import { ${ident(tool)} } from "${from}";`, entry: `${tool}: ${ident(tool)},` };
};

/** One entry a line: what is added later then touches no line that is there. */
export function areaList(part: AreaPart, areas: readonly string[]): string {
  const { about, typeImport, typed, brackets } = shapes[part];
  const additions = areas.map((name) => areaAddition(part, name));
  return [
    `/** ${about} */`,
    typeImport,
    ...additions.map(({ importLine }) => importLine),
    "",
    `export const ${typed} = ${brackets[0]}`,
    ...additions.map(({ entry }) => `  ${entry}`),
    `${brackets[1]};`,
    "",
  ].join("\n");
}

export const specialismsList = (ids: readonly string[]): string =>
  [
    "/** What this seller claims: each names tools it must have, and a conformance suite it must pass. */",
    "export const specialisms = [",
    ...ids.map((id) => `  ${JSON.stringify(id)},`),
    "] as const;",
    "",
  ].join("\n");

/** A tool without a reference behaviour. */
export function plainTool(tool: string): string {
  return [
    'import { ToolError } from "adbind/seller";',
    'import type { Handler } from "../handler.js";',
    "",
    "/** Nothing stands behind this tool yet: put your behaviour here. */",
    `export const ${ident(tool)}: Handler<"${tool}"> = () => {`,
    `  throw new ToolError("UNSUPPORTED_FEATURE", "${tool} is not supported by this seller");`,
    "};",
    "",
  ].join("\n");
}
