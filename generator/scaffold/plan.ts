/** Which files a project of these specialisms has, and what is in them. Nothing here touches the disk. */
import type { Model } from "../model/model.js";
import { areaList, plainTool, specialismsList, toolsList } from "./lists.js";
import {
  type AreaPart,
  areaParts,
  areasOf,
  areasWith,
  companionsOf,
  neededFiles,
  type TemplateFiles,
  toolFile,
} from "./template-files.js";
import { gitignore, type ProjectFacts, packageJson, readme, tsconfigJson } from "./texts.js";

export interface ProjectRequest {
  readonly name: string;
  readonly packageName: string;
  readonly adbind: string;
  /** As the release spells them. */
  readonly specialisms: readonly string[];
  /** Areas that stand in no specialism. */
  readonly with?: readonly string[];
  /** Versions of the further releases that are spoken, newest first. */
  readonly also?: readonly string[];
  /** The `src/seller.ts` that is there already. */
  readonly before?: string;
}

export interface ProjectPlan {
  /** Path -> text; lists and projects' own files included, bindings not. */
  readonly files: ReadonlyMap<string, string>;
  readonly tools: readonly string[];
  /** Tools without a reference behaviour. */
  readonly open: readonly string[];
  /** Areas of the domain that have each part. */
  readonly areas: { readonly [P in AreaPart]: readonly string[] };
}

const CONTROLLER = "comply_test_controller";

/** A seller answers these of itself. */
const isBuiltIn = (tool: string, word: string): boolean =>
  ["get_agent_capabilities", `get_${word}_capabilities`, "get_task_status", "list_tasks"].includes(tool);

/** Every tool the specialisms exercise, those it is of little use without, and the test controller. */
export function toolsOf(model: Model, files: TemplateFiles, specialisms: readonly string[]): string[] {
  const known = new Set(model.tools.map(({ name }) => name));
  const exercised = model.specialisms.filter(({ id }) => specialisms.includes(id)).flatMap((one) => one.exercised);
  return companionsOf(files, [...exercised, CONTROLLER]).filter(
    (tool) => known.has(tool) && !isBuiltIn(tool, model.word),
  );
}

/** Files every project has. */
const roots = ["handler.ts", "documents.ts", "seller.ts", "serve.ts"];

export function planProject(model: Model, files: TemplateFiles, request: ProjectRequest): ProjectPlan {
  const tools = toolsOf(model, files, request.specialisms);
  const open = tools.filter((tool) => !files.has(toolFile(tool)));
  const needed = neededFiles(files, [...roots, ...tools.map(toolFile)]);
  const areas: ProjectPlan["areas"] = Object.fromEntries(
    areaParts.map((part) => [part, areasWith(needed, part)]),
  ) as never;
  const facts: ProjectFacts = { ...request, word: model.word, version: model.version, tools, open };
  const source = [...needed].map((file): [string, string] => [
    `src/${file}`,
    files.get(file)!.replaceAll("__SELLER_NAME__", () => JSON.stringify(request.name).slice(1, -1)),
  ]);
  return {
    tools,
    open,
    areas,
    files: new Map([
      ["package.json", packageJson(facts)],
      ["tsconfig.json", tsconfigJson()],
      [".gitignore", gitignore()],
      ["README.md", readme(facts)],
      ...source,
      ["src/tools/index.ts", toolsList(tools)],
      ...areaParts.map((part): [string, string] => [`src/${part}.ts`, areaList(part, areas[part])]),
      ["src/specialisms.ts", specialismsList(request.specialisms)],
      ...open.map((tool): [string, string] => [`src/${toolFile(tool)}`, plainTool(tool)]),
      ...tests(files, areasOf(needed), tools),
    ]),
  };
}

/** Tools with a reference behaviour that a test calls. */
const calledBy = (files: TemplateFiles, text: string): string[] =>
  [...text.matchAll(/\b(?:call|read)\("(\w+)"/g)].map((match) => match[1]!).filter((tool) => files.has(toolFile(tool)));

/**
 * The test every project has, and one per area that has one, where the project answers what it calls: an area may be
 * there for what another one reads of it.
 */
const tests = (files: TemplateFiles, areas: ReadonlySet<string>, tools: readonly string[]): [string, string][] =>
  [...files]
    .filter(([file]) => /^test\/[\w.-]+\.ts$/.test(file))
    .filter(([file, text]) => {
      const subject = file.slice("test/".length).replace(/(\.test)?\.ts$/, "");
      if (subject === "seller" || !file.endsWith(".test.ts")) return true;
      return areas.has(subject) && calledBy(files, text).every((tool) => tools.includes(tool));
    })
    // In templates/ the source stands beside test/; in a project it is in src/.
    .map(([file, text]) => [file, text.replaceAll('from "../', 'from "../src/')]);
