/** What a change writes, worked out ahead of its transaction: no database is asked, and none waits meanwhile. */
import type { PropertyRow, PropertySource, PublisherRow } from "../store/registry-publishers.js";
import type { SourceSet } from "./matching.js";
import { digestOf, type ProjectedEdge, projectEdges, projectProperties } from "./project.js";
import type { AgentEntry } from "./types.js";

export type PublisherFacts = Partial<
  Omit<PublisherRow, "id" | "domain" | "property_count" | "summary" | "digests" | "genres" | "taxonomy">
>;

/** What changes of one publisher. */
export interface PublisherChange {
  readonly domain: string;
  readonly facts: (before: PublisherRow) => PublisherFacts;
  /** Sets that take the place of what their source said before. */
  readonly sets: Partial<Record<PropertySource, SourceSet>>;
  /** What the publisher's file says of other domains; absent leaves earlier claims. */
  readonly others?: readonly { readonly publisherDomain: string; readonly agent: AgentEntry }[];
  /** When somebody else fetched what it says, unix milliseconds: what was fetched here since stays. Absent where it counts at any rate. */
  readonly fetchedAt?: number;
}

/** When what a row says was fetched: an attempt that reached nobody leaves what was there. */
const standsSince = ({ outcome, validated_at, crawled_at }: PublisherRow): number | null =>
  outcome === "unreachable" ? validated_at : crawled_at;

export const isOutdated = ({ fetchedAt }: Pick<PublisherChange, "fetchedAt">, row: PublisherRow): boolean =>
  fetchedAt !== undefined && (standsSince(row) ?? 0) > fetchedAt;

/** A set and what it becomes. Rows are made when first asked for: a set that is as before needs none. */
export class PreparedSet {
  /** Undefined of an empty set. */
  readonly digest: string | undefined;
  #rows: Omit<PropertyRow, "publisher">[] | undefined;
  #edges: ProjectedEdge[] | undefined;

  constructor(
    readonly source: PropertySource,
    readonly set: SourceSet,
    readonly now: number,
  ) {
    const empty = set.properties.length === 0 && set.agents.length === 0;
    this.digest = empty ? undefined : digestOf(set, null, now);
  }

  get properties(): readonly Omit<PropertyRow, "publisher">[] {
    this.#rows ??= projectProperties(this.set, this.source);
    return this.#rows;
  }

  /** Only a publisher's own file and the one hosted for it authorize anybody. */
  get edges(): readonly ProjectedEdge[] {
    const { source, now } = this;
    if (source !== "adagents_json" && source !== "aao_hosted") return [];
    this.#edges ??= projectEdges(this.set, { source, now });
    return this.#edges;
  }
}

export interface PreparedChange extends Omit<PublisherChange, "sets"> {
  readonly sets: readonly PreparedSet[];
  /** Unix milliseconds at which entries are in effect or not. */
  readonly now: number;
}

/** @param now unix milliseconds */
export const prepare = (change: PublisherChange, now: number): PreparedChange => ({
  ...change,
  sets: (Object.entries(change.sets) as [PropertySource, SourceSet][]).map(
    ([source, set]) => new PreparedSet(source, set, now),
  ),
  now,
});

/** Of a change, what no crawl finds: a file that is hosted for the publisher. */
export const withoutFetched = ({ others: _, ...change }: PreparedChange): PreparedChange => ({
  ...change,
  facts: () => ({}),
  sets: change.sets.filter(({ source }) => source === "aao_hosted"),
});

/** Makes the rows now, where they will surely be needed. */
export const makeRows = (set: PreparedSet): void => void [set.properties, set.edges];
