/** Which properties of a set its entries mean, and how much may be spent on finding that out. */
import type { AgentEntry, DelegationType, PropertyRecord, PropertySelector } from "./file-types.js";

/** A property with what only some sources know of it. */
export type SetProperty = PropertyRecord & { readonly delegation?: DelegationType | null };

/** All that one source says of one publisher; replaced as a whole. */
export interface SourceSet {
  readonly properties: readonly SetProperty[];
  readonly agents: readonly AgentEntry[];
  /** What categories are made of. */
  readonly genres?: readonly string[];
  readonly taxonomy?: string | null;
}

/** What names a property within its source: the publisher's own name for it, else an identifier, else type and name. */
function propertyKey(property: Pick<PropertyRecord, "id" | "type" | "name" | "identifiers">): string {
  if (property.id !== null) return `#${property.id}`;
  const first = property.identifiers[0];
  return first === undefined ? `${property.type}|${property.name}` : `${first.type}:${first.value.toLowerCase()}`;
}

/** Properties of a set by key: those at the top of the file, then those that entries bring along; the first of a key stays. */
export function keyedProperties(set: SourceSet): Map<string, SetProperty> {
  const keyed = new Map<string, SetProperty>();
  const add = (property: SetProperty): void => {
    const key = propertyKey(property);
    if (!keyed.has(key)) keyed.set(key, property);
  };
  for (const property of set.properties) add(property);
  for (const entry of set.agents) for (const property of entry.properties ?? []) add(property);
  return keyed;
}

/**
 * Most comparisons of properties with selectors for one file: some tenths of a second. Real files stay a hundred times
 * below; one made to keep the registry busy gets entries that cover nothing from there on.
 */
const MATCHING_LIMIT = 4_000_000;

/**
 * What is kept of all selections of one file, in characters of keys: each of thousands of agents has its own list, and a file of a
 * megabyte would be kept, read and searched as hundreds of them. Two million keys as usual ones are long.
 */
const KEPT_CHARACTERS = 20_000_000;
/** What a key takes beside its text in a list that is kept. */
const KEY_CHARACTERS = 3;

interface Selection {
  readonly keys: string[];
  readonly characters: number;
}

/** The properties of a set, and how much may still be spent on telling which of them are meant, and on keeping it. */
export class Matcher {
  #left = MATCHING_LIMIT;
  #room = KEPT_CHARACTERS;
  /** Looking at all properties once, tags included. */
  readonly #cost: number;
  readonly #selected = new Map<string, Selection>();

  constructor(readonly keyed: ReadonlyMap<string, SetProperty>) {
    this.#cost = [...keyed.values()].reduce((sum, { tags }) => sum + 1 + tags.length, 0);
  }

  /** Whether work is left for selectors, which is taken off. */
  #spends(selectors: readonly PropertySelector[]): boolean {
    for (const { propertyIds } of selectors) this.#left -= propertyIds?.length ?? this.#cost;
    return this.#left >= 0;
  }

  /**
   * Keys of the properties that any of the selectors means; one list for all who select the same by tags or types.
   * @returns undefined where entries before have used up what there is
   */
  select(selectors: readonly PropertySelector[]): string[] | undefined {
    if (this.#room < 0 || !this.#spends(selectors)) return undefined;
    const name = selectors.some(({ propertyIds }) => propertyIds !== undefined) ? undefined : JSON.stringify(selectors);
    const known = name === undefined ? undefined : this.#selected.get(name);
    const { keys, characters } = known ?? this.#measured(selectors);
    if (name !== undefined && known === undefined) this.#selected.set(name, { keys, characters });
    this.#room -= characters;
    return this.#room < 0 ? undefined : keys;
  }

  #measured(selectors: readonly PropertySelector[]): Selection {
    const keys = this.#find(selectors);
    return { keys, characters: keys.reduce((sum, key) => sum + key.length + KEY_CHARACTERS, 0) };
  }

  #find(selectors: readonly PropertySelector[]): string[] {
    const found = new Set<string>();
    for (const { propertyIds, propertyTypes, tags } of selectors) {
      const types = propertyTypes && new Set(propertyTypes);
      const labels = tags && new Set(tags);
      const keys = propertyIds?.map((id) => `#${id}`) ?? this.keyed.keys();
      for (const key of keys) {
        const property = this.keyed.get(key);
        if (property === undefined || (types !== undefined && !types.has(property.type))) continue;
        if (labels === undefined || property.tags.some((tag) => labels.has(tag))) found.add(key);
      }
    }
    return [...found];
  }
}

/** What an entry selects among the publisher's properties by; null where that is all of them. */
function selectorsOf(entry: AgentEntry): readonly PropertySelector[] | null {
  switch (entry.authorizationType) {
    case null:
      return null;
    case "property_ids":
      return [{ propertyIds: entry.propertyIds ?? [] }];
    case "property_tags":
      return [{ tags: entry.propertyTags ?? [] }];
    case "publisher_properties": {
      const selectors = entry.publisherProperties ?? [];
      const whole = selectors.some((one) => !one.propertyIds && !one.propertyTypes && !one.tags);
      return whole ? null : selectors;
    }
    case "inline_properties":
    case "signal_ids":
    case "signal_tags":
      return [];
  }
}

/** Keys of the properties an entry covers; null is all. */
export function coversOf(entry: AgentEntry, matcher: Matcher): string[] | null {
  if (entry.authorizationType === "inline_properties") return (entry.properties ?? []).map(propertyKey);
  const selectors = selectorsOf(entry);
  return selectors === null ? null : (matcher.select(selectors) ?? []);
}

/** Entries by agent: a file may name one in several. */
export function inOrderOfAgents(agents: readonly AgentEntry[]): AgentEntry[][] {
  return [...Map.groupBy(agents, ({ agentUrl }) => agentUrl).values()];
}

/** The entries of a set that cover nothing, since those before them select more than is looked at, or kept. */
export function unreached(set: SourceSet): AgentEntry[] {
  const matcher = new Matcher(keyedProperties(set));
  return inOrderOfAgents(set.agents).flatMap((entries) =>
    entries.filter((entry) => {
      const selectors = selectorsOf(entry);
      return selectors !== null && matcher.select(selectors) === undefined;
    }),
  );
}
