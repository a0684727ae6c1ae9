/** A project of the library's behaviours: ports, configuration, and nothing else. Nothing here touches the disk. */
import { toolsOfClaim } from "../../runtime/contract/index.js";
import type { Model } from "../model/model.js";
import { leftToDefaults, portFiles, portFileText } from "./port-files.js";
import { speakingSeveral, testingSeveral } from "./several-releases.js";
import type { TemplateFiles } from "./template-files.js";
import { gitignore, type ProjectFacts, packageJson, tsconfigJson } from "./texts.js";

export interface ProjectRequest {
  readonly name: string;
  readonly packageName: string;
  readonly adbind: string;
  readonly cli: string;
  /** As the release spells them. */
  readonly specialisms: readonly string[];
  /** Areas that stand in no specialism. */
  readonly with?: readonly string[];
  /** Versions of the further releases that are served, newest first. */
  readonly also?: readonly string[];
  /** The `src/seller.ts` that is there already. */
  readonly before?: string;
}

export interface ProjectPlan {
  /** Path -> text; bindings left out. */
  readonly files: ReadonlyMap<string, string>;
  readonly tools: readonly string[];
  /** Tools that the specialisms name and the library does not answer. */
  readonly open: readonly string[];
  /** Those of them that are entry points: a seller does not start without. */
  readonly awaited: readonly string[];
}

/** What the library answers, by area; templates/project/areas.json, which a test compares with the library. */
export type LibraryAreas = Readonly<
  Record<string, { readonly tools: readonly string[]; readonly needs: readonly string[] }>
>;

const CONTROLLER = "comply_test_controller";

const isBuiltIn = (tool: string): boolean =>
  /^get_\w+_capabilities$/.test(tool) || ["get_task_status", "list_tasks", CONTROLLER].includes(tool);

interface Choice {
  /** Areas that are served. */
  readonly areas: ReadonlySet<string>;
  readonly tools: readonly string[];
  /** Tools that the specialisms name and the library does not answer. */
  readonly open: readonly string[];
  /** Those of them that are entry points: a seller does not start without. */
  readonly awaited: readonly string[];
}

/** What the library serves of the specialisms, and of the areas beside them. */
export function libraryChoice(
  model: Model,
  areas: LibraryAreas,
  { specialisms, with: beside = [] }: Pick<ProjectRequest, "specialisms" | "with">,
): Choice {
  const known = new Set(model.tools.map(({ name }) => name));
  const answered = new Set(Object.values(areas).flatMap(({ tools }) => tools));
  const claimed = model.specialisms.filter(({ id }) => specialisms.includes(id));
  const answers = (tool: string): boolean => answered.has(tool) || isBuiltIn(tool);
  const protocols = model.tools.map((tool) => [tool.name, tool] as const);
  const named = claimed.map((one) => toolsOfClaim(one, protocols));
  const exercised = new Set(named.flatMap(({ all }) => all));
  const chosen = new Set(beside);
  for (const [area, { tools }] of Object.entries(areas))
    if (tools.some((tool) => exercised.has(tool))) chosen.add(area);
  // A set that grows while it is gone through: what a needed area needs is looked at too.
  for (const area of chosen) for (const needed of areas[area]?.needs ?? []) chosen.add(needed);
  const tools = [...chosen].flatMap((area) => areas[area]?.tools ?? []).filter((tool) => known.has(tool));
  const open = [...exercised].filter((tool) => known.has(tool) && !answers(tool)).sort();
  return {
    areas: chosen,
    tools: [...tools, ...(known.has(CONTROLLER) ? [CONTROLLER] : [])].sort(),
    open,
    awaited: open.filter((tool) => named.some(({ required }) => required.includes(tool))),
  };
}

/** The ports a project fills in, by the area that asks them. */
const ports = [
  { area: "products", file: "catalogue", port: "catalogue", about: "what you sell" },
  { area: "media-buys", file: "ad-server", port: "adServer", about: "where orders run" },
  { area: "signals", file: "signals", port: "signals", about: "the signals you offer" },
  { area: "reporting", file: "reporting", port: "reporting", about: "the reports you owe" },
  { area: "building", file: "creatives", port: "creatives", about: "the formats you take" },
  { area: "transformers", file: "transformers", port: "transformers", about: "what makes creatives, and its knobs" },
  { area: "events", file: "events", port: "events", about: "who attributes conversions" },
  { area: "audiences", file: "audiences", port: "audiences", about: "who knows the people of an audience" },
  { area: "property-lists", file: "properties", port: "properties", about: "the properties you know" },
  { area: "collection-lists", file: "collections", port: "collections", about: "the programmes you know" },
  { area: "brands", file: "brands", port: "brands", about: "the brands you speak for, and what you license" },
  { area: "sponsored-intelligence", file: "conversations", port: "conversations", about: "what the brand says" },
  { area: "content-standards", file: "policy", port: "policy", about: "who judges by policies in words" },
  { area: "governance", file: "policy", port: "policy", about: "who judges by policies in words" },
] as const;

/** A tool to answer oneself, for an example: the first that is there. */
const examples = [
  "get_products",
  "get_signals",
  "build_creative",
  "list_creative_formats",
  "get_property_list",
  "get_rights",
  "si_get_offering",
];

const exampleOf = (tools: readonly string[]): string =>
  examples.find((tool) => tools.includes(tool)) ?? tools.find((tool) => tool !== CONTROLLER)!;

/** @param choice of at least one tool */
export function planLibraryProject(
  model: Model,
  files: TemplateFiles,
  request: ProjectRequest,
  { areas, tools, open, awaited }: Choice,
): ProjectPlan {
  const facts: ProjectFacts = { ...request, word: model.word, version: model.version, tools, open, awaited };
  const { before = "" } = request;
  const served = ports.filter(({ area, port }) => areas.has(area) && !importsPort(before, port));
  // Several areas may ask one port.
  const asked = served.filter(({ port }, index) => served.findIndex((one) => one.port === port) === index);
  const own = portFiles(asked);
  const seller = sellerText(files.get("src/seller.ts")!, request, { own, tools });
  const fixed = ["src/serve.ts", "Dockerfile", "compose.yaml", ".env.example"];
  return {
    tools,
    open,
    awaited,
    files: new Map([
      ["package.json", packageJson(facts)],
      ["tsconfig.json", tsconfigJson()],
      [".gitignore", gitignore()],
      ["README.md", readmeText(files.get("README.md")!, facts, { own, left: leftToDefaults(asked) })],
      ["src/seller.ts", seller],
      ...own.map((group): [string, string] => [`src/${group.file}.ts`, portFileText(files, group)]),
      ["test/seller.test.ts", testingSeveral(files.get("test/seller.test.ts")!, request.also)],
      ...fixed.map((file): [string, string] => [file, files.get(file)!]),
    ]),
  };
}

type OwnPorts = ReturnType<typeof portFiles>;

/** A project that is there has some of its ports, each in the file that its owner likes. */
const importsPort = (text: string, port: string): boolean =>
  new RegExp(`^import \\{[^}]*\\b${port}\\b[^}]*\\}`, "m").test(text);

/** `3.2.4, 3.1.19 and 3.0.26`. */
const listed = (all: readonly string[]): string => all.join(", ").replace(/, (?=[^,]+$)/, " and ");

function sellerText(
  text: string,
  { name, specialisms, with: beside = [], also = [] }: ProjectRequest,
  { own, tools }: { readonly own: OwnPorts; readonly tools: readonly string[] },
): string {
  const names = (group: OwnPorts[number]): string[] => group.ports.map(({ port }) => port).sort();
  const imports = own.map((group) => `import { ${names(group).join(", ")} } from "./${group.file}.js";`).sort();
  const quoted = (list: readonly string[]): string => list.map((one) => JSON.stringify(one)).join(", ");
  const claims = `specialisms,${beside.length > 0 ? `\n    with: [${quoted(beside)}],` : ""}`;
  return speakingSeveral(text, also)
    .replace(/(?:import \{ \w+ \} from "\.\/.*";\n)+/, () => imports.map((line) => `${line}\n`).join(""))
    .replace("{ adServer, catalogue }", () => `{ ${own.flatMap(names).sort().join(", ")} }`)
    .replace('["sales_guaranteed"] as const', () => `[${quoted(specialisms)}] as const`)
    .replace("    specialisms,", () => `    ${claims}`)
    .replaceAll("get_products", () => exampleOf(tools))
    .replaceAll("__SELLER_NAME__", () => JSON.stringify(name).slice(1, -1));
}

function readmeText(
  text: string,
  { name, word, version, also = [], specialisms, open, awaited }: ProjectFacts,
  { own, left }: { readonly own: OwnPorts; readonly left: ReturnType<typeof leftToDefaults> },
): string {
  const written = own.map(({ file, ports }) => `- ${file}.ts: ${ports.map(({ about }) => about).join("; ")}\n`);
  const others = left.map(({ port, about }) => `\`${port}\` (${about})`).join(", ");
  const more = left.length === 0 ? "" : `- ports beside these, each with a default: ${others}\n`;
  const missing =
    open.length === 0 ? "" : `\nNobody answers yet, though the specialisms name them: ${open.join(", ")}.\n`;
  const waits =
    awaited.length === 0 ? "" : `It starts once \`tools\` in src/seller.ts has a handler of ${awaited.join(", ")}.\n`;
  return text
    .replaceAll("__SELLER_NAME__", () => name)
    .replace("__WORD__", () => word)
    .replace("__VERSION__", () => listed([version, ...also]))
    .replace("__SPECIALISMS__", () => specialisms.join(", "))
    .replace("__PORTS__", () => written.join("") + more)
    .replace("__MISSING__\n", () => missing + waits);
}
