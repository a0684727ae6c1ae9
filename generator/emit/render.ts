/** Views -> text. Templates hold presence and loops; a name a template asks for and a view lacks throws. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
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
