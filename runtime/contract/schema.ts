/** Schemas of a release, as validators find them. */

/** Path of a schema in its release, `/` separated, with an optional `#/json/pointer`. */
export type SchemaRef = string;

/**
 * A schema's place as a URI reference, which is how a validator knows it: a path may hold what a URI may not.
 * @param ref `<path>` or `<path>#<pointer>`, as everywhere else in a release
 */
export function schemaUri(ref: SchemaRef): string {
  const encode = (text: string): string => encodeURI(text).replace(/[?#]/g, encodeURIComponent);
  const hash = ref.indexOf("#");
  return hash < 0 ? `/${encode(ref)}` : `/${encode(ref.slice(0, hash))}#${encode(ref.slice(hash + 1))}`;
}

/** Schema documents of a release as JSON text, keyed by path. `$ref`s between them are what `schemaUri` gives. */
export type SchemaDocuments = Readonly<Record<string, string>>;

/** Loads the schema documents; called on the first validation, never before. */
export type SchemaSource = () => Promise<SchemaDocuments>;
