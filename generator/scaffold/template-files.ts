/** The reference project as it stands in templates/seller, and which of its files a set of tools needs. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Path below templates/seller -> text. */
export type TemplateFiles = ReadonlyMap<string, string>;

/** The templates folder stands beside `generator/` in the sources, and one level higher beside `dist/` in the package. */
function templatesFolder(name: string, holding: string): string {
  for (let folder = import.meta.dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const candidate = path.join(folder, "templates", name);
    if (existsSync(path.join(candidate, holding))) return candidate;
  }
  throw new Error(`the package has no templates/${name} folder`);
}

/** The project of a seller of the library's behaviours. */
export const readProjectTemplates = (): TemplateFiles => readTemplates(templatesFolder("project", "areas.json"));

/** The project of a buyer. */
export const readBuyerTemplates = (): TemplateFiles => readTemplates(templatesFolder("buyer", "src/buyer.ts"));

export function readTemplates(folder = templatesFolder("seller", "handler.ts")): TemplateFiles {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
    .sort();
  return new Map(entries.map((file) => [file, readFileSync(path.join(folder, file), "utf8")]));
}

/** Tools that are of little use without others: a buy that cannot be read, creatives that cannot be listed. */
export function companionsOf(files: TemplateFiles, tools: readonly string[]): string[] {
  const table = JSON.parse(files.get("companions.json") ?? "{}") as Record<string, string[]>;
  const all = new Set(tools);
  // A set that grows while it is walked is walked to its end.
  for (const tool of all) for (const one of Object.hasOwn(table, tool) ? table[tool]! : []) all.add(one);
  return [...all].sort();
}

export const toolFile = (tool: string): string => `tools/${tool.replaceAll("_", "-")}.ts`;

/** What comes with an area of the domain without being imported; a project lists each kind. */
export const areaParts = ["fixtures", "scenarios", "capabilities", "routes", "checks", "listeners", "reports"] as const;

export type AreaPart = (typeof areaParts)[number];

/** Files whose content is a list, which a project has a shorter one of. */
export const listFiles: readonly string[] = [
  "tools/index.ts",
  "specialisms.ts",
  ...areaParts.map((part) => `${part}.ts`),
];

const relativeImports = (text: string): string[] =>
  [...text.matchAll(/from "(\.[^"]+)\.js"/g)].map((match) => match[1]!);

/** `domain/products/find.ts` is of the area `products`. */
const areaOf = (file: string): string | undefined => /^domain\/([^/]+)\//.exec(file)?.[1];

/** Files reached by imports from `roots`, with the parts of every area reached. Lists are left out. */
export function neededFiles(files: TemplateFiles, roots: readonly string[]): Set<string> {
  const needed = new Set(roots.filter((file) => files.has(file)));
  for (const file of needed) {
    const folder = path.posix.dirname(file);
    for (const target of relativeImports(files.get(file)!)) {
      const one = `${path.posix.join(folder, target)}.ts`;
      if (files.has(one) && !listFiles.includes(one)) needed.add(one);
    }
    const area = areaOf(file);
    if (area === undefined) continue;
    for (const part of areaParts) {
      const one = `domain/${area}/${part}.ts`;
      if (files.has(one)) needed.add(one);
    }
  }
  return needed;
}

/** Areas among the files that have the part, sorted. */
export const areasWith = (files: Iterable<string>, part: AreaPart): string[] =>
  [...files]
    .filter((file) => file.startsWith("domain/") && file.endsWith(`/${part}.ts`))
    .map((file) => areaOf(file)!)
    .sort();

export const areasOf = (files: Iterable<string>): Set<string> =>
  new Set([...files].flatMap((file) => areaOf(file) ?? []));
