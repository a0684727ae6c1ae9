/** Every type of a release -> one synthetic root for the type compiler. */
import type { Model } from "../../model/model.js";
import { type Named, TypeNames } from "./naming.js";
import { type Left, Renderer, type RenderOptions } from "./render.js";
import type { Rendered } from "./rendered.js";

/** Name of the synthetic root; `takenNames` keeps it free. */
export const ROOT_NAME = "AdbindRoot";

export interface Root {
  schema: Rendered;
  names: TypeNames;
  left: Left;
}

/** Every named type, and what becomes named while others are rendered. */
export function renderRoot(
  model: Pick<Model, "documents" | "places" | "resolve" | "tools">,
  { taken, ...options }: RenderOptions & { taken: ReadonlySet<string> },
): Root {
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
  const properties = Object.fromEntries(
    Object.keys(definitions).map((name) => [name, { $ref: `#/definitions/${name}` }]),
  );
  const schema = { title: ROOT_NAME, type: "object", properties, additionalProperties: false, definitions };
  return { schema, names, left: renderer.left };
}
