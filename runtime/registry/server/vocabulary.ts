/** The protocol's own values, of the newest release that is served. */
import type { Files } from "./files.js";

const lists = {
  channels: "enums/channels.json",
  property_types: "enums/property-type.json",
  delivery_types: "enums/delivery-type.json",
  identifier_types: "enums/identifier-types.json",
} as const;

export type Vocabularies = Readonly<Record<keyof typeof lists, readonly string[]>>;

const valuesOf = (files: Files, file: string): string[] => (files.newest(file)?.body.enum ?? []) as string[];

export const vocabulariesOf = (files: Files): Vocabularies => ({
  channels: valuesOf(files, lists.channels),
  property_types: valuesOf(files, lists.property_types),
  delivery_types: valuesOf(files, lists.delivery_types),
  identifier_types: valuesOf(files, lists.identifier_types),
});
