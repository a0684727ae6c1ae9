/** Views -> text. Templates hold presence and loops; a name a template asks for and a view lacks throws. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import Handlebars from "handlebars";

/** The templates folder stands beside `generator/` in the sources, and one level higher beside `dist/` in the package. */
function templatesFolder(): string {
  for (let folder = import.meta.dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const candidate = path.join(folder, "templates");
    if (existsSync(path.join(candidate, "banner.hbs"))) return candidate;
  }
  throw new Error("the package has no templates folder");
}

export type Render = (template: string, view: object) => string;

/**
 * Compiles the templates once; the returned function renders one by its name.
 * @param shared what every view has, as `@root` in a template
 */
export function createRender(shared: object, folder = templatesFolder()): Render {
  const handlebars = Handlebars.create();
  const options = { noEscape: true, strict: true, knownHelpersOnly: true } as const;
  const templates = new Map<string, Handlebars.TemplateDelegate>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".hbs"))) {
    const source = readFileSync(path.join(folder, file), "utf8");
    const name = file.slice(0, -".hbs".length);
    templates.set(name, handlebars.compile(source, options));
    handlebars.registerPartial(name, handlebars.compile(source, options));
  }
  return (name, view) => {
    const template = templates.get(name);
    if (template === undefined) throw new Error(`no template is called ${name}`);
    return template({ ...view, ...shared });
  };
}

/** Scripts and styles of the explorer's site by their names, with the library that its search runs on. */
export function explorerAssets(folder = templatesFolder()): Map<string, string> {
  const own = path.join(folder, "explorer");
  const assets = new Map(
    readdirSync(own)
      .sort()
      .map((name) => [name, readFileSync(path.join(own, name), "utf8")]),
  );
  // A page from a disk loads classic scripts only, which the package has in a folder beside the one that is imported.
  const search = path.dirname(createRequire(import.meta.url).resolve("minisearch"));
  const script = readFileSync(path.join(search, "../umd/index.js"), "utf8");
  return assets.set("minisearch.js", script.replace(/\n\/\/# sourceMappingURL=.*/, ""));
}
