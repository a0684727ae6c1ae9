/** The canonical formats of a release: what each is made of, where a declaration does not say. */
import { schemaUri } from "../../contract/index.js";

/** A place for an asset in a canonical format. */
export interface CanonicalSlot {
  readonly asset_group_id: string;
  readonly asset_type: string;
  readonly required?: boolean;
}

/** Slots of a canonical format by its kind; undefined where the release has no such format. */
export type CanonicalFormats = (kind: string) => readonly CanonicalSlot[] | undefined;

const PATH = /(?:^|\/)formats\/canonical\/([a-z0-9_]+)\.json$/;

interface CanonicalDocument {
  readonly properties?: { readonly slots?: { readonly default?: readonly CanonicalSlot[] } };
}

/** @param texts the release's schemas, by path */
export function canonicalFormats(texts: Readonly<Record<string, string>>): CanonicalFormats {
  const byKind = new Map<string, string>();
  for (const [path, text] of Object.entries(texts)) {
    const kind = PATH.exec(schemaUri(path))?.[1];
    if (kind !== undefined && kind !== "_base") byKind.set(kind, text);
  }
  const read = new Map<string, readonly CanonicalSlot[]>();
  return (kind) => {
    const text = byKind.get(kind);
    if (text === undefined) return undefined;
    const slots = read.get(kind) ?? (JSON.parse(text) as CanonicalDocument).properties?.slots?.default ?? [];
    read.set(kind, slots);
    return slots;
  };
}
