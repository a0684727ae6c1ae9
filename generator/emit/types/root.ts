/** Every type of a release -> the synthetic roots that the type compiler is given. */
import type { Model } from "../../model/model.js";
import { type Named, TypeNames } from "./naming.js";
import { Renderer, type RenderOptions } from "./render.js";
import { type Rendered, sealed } from "./rendered.js";

/** Name of each synthetic root; `takenNames` keeps it free. */
export const ROOT_NAME = "AdbindRoot";

/** Types of one root: few enough that what the compiler makes of them is let go young, which is cheapest. */
const TYPES_PER_ROOT = 30;

export interface Roots {
  schemas: Rendered[];
  names: TypeNames;
}

/** Every named type, and what becomes named while others are rendered. */
export function renderRoots(
  model: Pick<Model, "documents" | "places" | "resolve" | "tools">,
  { taken, ...options }: RenderOptions & { taken: ReadonlySet<string> },
): Roots {
  const names = new TypeNames(model, taken);
  const renderer = new Renderer(names, model.resolve, options);
  const definitions: Record<string, Rendered> = {};
  const render = ({ name, shape, context }: Named): void => {
    definitions[name] = renderer.define(name, shape, context);
  };
  for (const named of names.byName.values()) render(named);
  // A type that is named on the way may stand written out in what was rendered before it: that is rendered again.
  while (renderer.renamed.size > 0) {
    const documents = new Set(renderer.renamed);
    renderer.renamed.clear();
    for (const named of names.byName.values()) {
      const isOf = documents.has(named.source.split("#")[0]!);
      if (isOf || definitions[named.name] === undefined) render(named);
    }
  }
  const all = Object.entries(definitions);
  const schemas: Rendered[] = [];
  for (let at = 0; at < all.length; at += TYPES_PER_ROOT) {
    const properties = Object.fromEntries(all.slice(at, at + TYPES_PER_ROOT));
    schemas.push({ title: ROOT_NAME, ...sealed({ properties, required: [] }) });
  }
  return { schemas, names };
}
