/** The files that projects are written from. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** Path below the folder -> text. */
export type TemplateFiles = ReadonlyMap<string, string>;

/** The templates folder stands beside `generator/` in the sources, and one level higher beside `dist/` in the package. */
function templatesFolder(name: string, holding: string): string {
  for (let folder = import.meta.dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const candidate = path.join(folder, "templates", name);
    if (existsSync(path.join(candidate, holding))) return candidate;
  }
  throw new Error(`the package has no templates/${name} folder`);
}

/** The project of a seller. */
export const readProjectTemplates = (): TemplateFiles => readTemplates(templatesFolder("project", "areas.json"));

/** The project of a buyer. */
export const readBuyerTemplates = (): TemplateFiles => readTemplates(templatesFolder("buyer", "src/buyer.ts"));

function readTemplates(folder: string): TemplateFiles {
  // By names alone: in the archives that Yarn's Plug'n'Play reads packages from, entries with their types say another parent.
  const entries = (readdirSync(folder, { recursive: true }) as string[])
    .filter((name) => statSync(path.join(folder, name)).isFile())
    .map((name) => name.split(path.sep).join("/"))
    .sort();
  return new Map(entries.map((file) => [file, readFileSync(path.join(folder, file), "utf8")]));
}

/** Packages that projects install beside adbind, by the kind of project. */
export const readProjectPackages = (): Readonly<Record<"seller" | "buyer", ProjectPackages>> =>
  JSON.parse(readFileSync(path.join(templatesFolder(".", "packages.json"), "packages.json"), "utf8"));

interface ProjectPackages {
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
}
