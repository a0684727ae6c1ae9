/** What packages name of the buyer's own: audiences, where their conversions come from, and the catalogues that fill them. */
import type { JsonObject } from "../../contract/index.js";

interface Targeting {
  readonly audience_include?: readonly string[];
  readonly audience_exclude?: readonly string[];
}

interface Goal {
  readonly event_sources?: readonly { readonly event_source_id?: string }[];
}

/** What a package promotes: a catalogue that was synced, where it does not bring its items itself. */
interface Promoted {
  readonly catalog_id?: string;
  readonly items?: unknown;
  readonly url?: unknown;
}

interface Promoting {
  readonly catalogs?: readonly Promoted[] | null;
  readonly catalog_ids?: readonly string[] | null;
}

/** The part of a package that names them. */
export interface NamedByBuyer {
  readonly targeting_overlay?: unknown;
  readonly optimization_goals?: unknown;
}

export const targetingOf = ({ targeting_overlay }: NamedByBuyer): Targeting => (targeting_overlay ?? {}) as Targeting;

export const goalsOf = ({ optimization_goals }: NamedByBuyer): readonly Goal[] =>
  (optimization_goals ?? []) as readonly Goal[];

/** Audiences a package is for, or is not for. */
export const targetedAudiences = (terms: JsonObject): readonly string[] => {
  const { audience_include: into = [], audience_exclude: out = [] } = targetingOf(terms);
  return [...into, ...out];
};

/** Event sources that a package is steered by. */
export const goalSources = (terms: JsonObject): readonly string[] =>
  goalsOf(terms).flatMap(({ event_sources = [] }) => event_sources.flatMap(({ event_source_id: id }) => id ?? []));

/** Synced catalogues that a package is filled from. */
export function promotedCatalogs(terms: object): readonly string[] {
  const { catalogs = [], catalog_ids: ids = [] } = terms as Promoting;
  return [
    ...(catalogs ?? []).flatMap(({ catalog_id: id, items, url }) =>
      id === undefined || items !== undefined || url !== undefined ? [] : [id],
    ),
    ...(ids ?? []),
  ];
}
