/** Checked release -> all that a reader may want to look up in it: the IR with every schema, and what is derived beside it. */
import type { FactTable } from "../../runtime/contract/index.js";
import { checkedManifest, type LoadedRelease } from "../load/load.js";
import { checkSchemas } from "../load/meta-schema.js";
import { partOfRelease } from "../load/part.js";
import { isMap, type Schema } from "../load/walk.js";
import { buildModel, releaseFacts } from "./build.js";
import type { Projection } from "./facts/tables.js";
import { type ListingCost, listingCosts } from "./listing.js";
import type { Model } from "./model.js";

export interface Atlas {
  /** With the schemas that no tool reaches, such as those of events. */
  readonly model: Model;
  /** By the tool's name. */
  readonly listings: ReadonlyMap<string, ListingCost>;
  /** Tools that who claims a specialism must serve: its own, those they fall back to, and what every agent has. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  /** The copies of the tools in the form that tool lists have. */
  readonly projections: FactTable<Projection>;
  /** Files that look like schemas and cannot be shown, with what is wrong with them. */
  readonly unreadable: readonly { readonly path: string; readonly because: string }[];
}

/** Lists and registries lie beside the schemas: what has none of these keywords says nothing of a value. */
const keywords = [
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
  "const",
  "enum",
  "properties",
  "items",
  "type",
  "$defs",
  "not",
  "if",
];

const isSchema = (schema: Schema): boolean => isMap(schema) && keywords.some((word) => Object.hasOwn(schema, word));

/** Files that no tool reaches and that can be shown: they are schemas, and they and what they refer to have no faults. */
async function besideTools(release: LoadedRelease) {
  const { documents, schemas } = release;
  const others = new Map([...documents].filter(([path, { schema }]) => !schemas.has(path) && isSchema(schema)));
  const faults = new Map<string, string>();
  for (const { file, message } of await checkSchemas({ ...release, schemas: others })) faults.set(file, message);
  for (const [path, { findings }] of documents) if (findings[0] !== undefined) faults.set(path, findings[0].message);
  const broken = (path: string, seen = new Set<string>()): string | undefined => {
    if (seen.has(path)) return undefined;
    seen.add(path);
    const own = faults.get(path);
    if (own !== undefined) return `${path}: ${own}`;
    for (const next of documents.get(path)?.uses ?? []) {
      const found = broken(next, seen);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const judged = [...others.keys()].sort().map((path) => ({ path, because: broken(path) }));
  return {
    beside: new Set(judged.flatMap(({ path, because }) => (because === undefined ? [path] : []))),
    unreadable: judged.flatMap(({ path, because }) => (because === undefined ? [] : [{ path, because }])),
  };
}

/** Everything a schema outside the tools refers to, itself included. */
function reachOf({ documents }: LoadedRelease, roots: Iterable<string>): Set<string> {
  const reached = new Set(roots);
  for (const path of reached) for (const next of documents.get(path)?.uses ?? []) reached.add(next);
  return reached;
}

function needsOf(release: LoadedRelease, model: Model): ReadonlyMap<string, readonly string[]> {
  const served = new Set(model.tools.map(({ name }) => name));
  return new Map(
    model.specialisms.map(({ id }): [string, readonly string[]] => {
      const part = partOfRelease(release, { specialisms: [id] });
      const tools = Object.keys(checkedManifest(part.release).tools);
      return [id, part.empty ? [] : tools.filter((name) => served.has(name)).sort()];
    }),
  );
}

/**
 * Builds what is looked up in a release.
 * @param release one that its checks accept
 * @param broken tools to leave out, with the reasons
 */
export async function buildAtlas(
  release: LoadedRelease,
  broken: ReadonlyMap<string, string[]> = new Map(),
): Promise<Atlas> {
  const { beside, unreadable } = await besideTools(release);
  const model = buildModel(release, broken, () => [...reachOf(release, beside)]);
  return {
    model,
    listings: listingCosts(release, model.tools),
    needs: needsOf(release, model),
    projections: releaseFacts(release).projections,
    unreadable,
  };
}
