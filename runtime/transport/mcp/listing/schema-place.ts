/** Places in a release's schemas, and the way from a reference to what it means. */
import {
  isJsonObject,
  type JsonObject,
  type SchemaDocuments,
  type SchemaRef,
  schemaUri,
} from "../../../contract/index.js";

/** A schema with the document it stands in, which its references are relative to. */
export interface SchemaPlace {
  readonly node: unknown;
  /** URI of the document. */
  readonly base: string;
}

export interface PlaceReader {
  root(ref: SchemaRef): SchemaPlace;
  /** What `$ref` means at a place; a schema that allows everything where there is nothing. */
  follow(ref: string, from: SchemaPlace): SchemaPlace;
}

const unescaped = (part: string): string => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");

/** @param documents the release's, as `release.schemas()` gives them */
export function placeReader(documents: SchemaDocuments): PlaceReader {
  const texts = new Map(Object.entries(documents).map(([path, text]) => [schemaUri(path), text]));
  const parsed = new Map<string, unknown>();
  const document = (uri: string): unknown => {
    const text = texts.get(uri);
    if (!parsed.has(uri)) parsed.set(uri, text === undefined ? {} : JSON.parse(text));
    return parsed.get(uri);
  };
  const at = (uri: string): SchemaPlace => {
    const [base = "", pointer = ""] = uri.split("#");
    let node = document(base);
    for (const part of pointer.split("/").slice(1)) {
      const name = unescaped(part);
      const held = Array.isArray(node) ? node[Number(name)] : isJsonObject(node) ? node[name] : undefined;
      node = held ?? {};
    }
    return { node, base };
  };
  return {
    root: (ref) => at(schemaUri(ref)),
    follow: (ref, { base }) => at(ref.startsWith("#") ? `${base}${ref}` : ref),
  };
}

/** The schema as an object; what allows everything, or nothing, has no members. */
export const membersOf = ({ node }: SchemaPlace): JsonObject => (isJsonObject(node) ? node : {});

/** A schema innerPlace another one. */
export const innerPlace = ({ base }: SchemaPlace, node: unknown): SchemaPlace => ({ node, base });
