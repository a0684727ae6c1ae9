/** What `tools/list` tells: each tool as a model can call it, all of them within what a model can be given. */
import type { JsonObject } from "../../../contract/index.js";
import type { AnswererDependencies, ListingOptions, OfferedTool } from "../../answerer.js";
import { compactSchema, type Detail, details } from "./compact-schema.js";
import { bundledSchema } from "./full-schema.js";
import { type PublishedSchemas, publishedSchemas } from "./published-schema.js";
import { type PlaceReader, placeReader } from "./schema-place.js";

/** Bytes a model is given: of one tool on average, and of all. What a call needs is told beyond them. */
const MOST_BYTES = { tool: 1_230, all: 24_000 } as const;

/** Title and description of a tool, in characters. */
const MOST_WORDS = 160;

/** @throws AdbindError `file_unusable` where schemas are to be read that cannot be */
export function toolListing(parts: AnswererDependencies): readonly JsonObject[] {
  const { schemas = "compact", output = false } = parts.listing ?? {};
  const { tools, documents } = parts;
  if (typeof schemas === "object") return publishedTools(parts, publishedSchemas(schemas.published, parts.version));
  const listed = schemas === "full" ? fullTools(parts) : compactTools(tools, placeReader(documents));
  if (!output) return listed;
  return listed.map((one, index) => ({ ...one, ...outputOf(tools[index]!, parts) }));
}

/** Tools that the release does not publish so are listed whole. */
const publishedTools = (
  parts: AnswererDependencies,
  schemasOf: (tool: string) => PublishedSchemas | undefined,
): JsonObject[] =>
  parts.tools.map((offered) => {
    const { inputSchema, outputSchema } = schemasOf(offered.name) ?? {};
    const { output = false } = parts.listing ?? {};
    const answer = outputSchema === undefined ? outputOf(offered, parts) : { outputSchema };
    return { ...listed(offered, inputSchema ?? wholeRequest(offered, parts)), ...(output && answer) };
  });

const fullTools = (parts: AnswererDependencies): JsonObject[] =>
  parts.tools.map((offered) => listed(offered, wholeRequest(offered, parts)));

const wholeRequest = ({ tool }: OfferedTool, { documents }: AnswererDependencies): JsonObject =>
  tool.request === "" ? taskSchema : bundledSchema(documents, tool.request);

/** The arms a call may end with at once; a union is an object too. */
function outputOf({ tool }: OfferedTool, { documents }: AnswererDependencies): JsonObject {
  const schema = (tool.arms as { readonly completed?: string | null }).completed;
  return typeof schema === "string" ? { outputSchema: bundledSchema(documents, schema) } : {};
}

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

/** What every call needs first; then, as long as there is room, more of the smallest tools, then of the others. */
function compactTools(tools: readonly OfferedTool[], reader: PlaceReader): JsonObject[] {
  const drawn = (offered: OfferedTool, level: Detail): JsonObject =>
    listed(offered, offered.tool.request === "" ? taskSchema : compactSchema(reader, offered.tool.request, level));
  const told = tools.map((offered) => drawn(offered, 0));
  const sizes = told.map(bytesOf);
  let room = Math.min(MOST_BYTES.tool * tools.length, MOST_BYTES.all) - sizes.reduce((sum, size) => sum + size, 0);
  for (let level = 1; level < details.length; level++) {
    const order = tools.map((_, index) => index).sort((a, b) => sizes[a]! - sizes[b]!);
    for (const index of order) {
      const more = drawn(tools[index]!, level);
      const grown = bytesOf(more) - sizes[index]!;
      if (grown > room) continue;
      told[index] = more;
      sizes[index]! += grown;
      room -= grown;
    }
  }
  return told;
}

/** Tools of ours that the release does not list ask for a task, or a page of them. */
const taskSchema = {
  type: "object",
  properties: { task_id: { type: "string" }, account: { type: "object" }, pagination: { type: "object" } },
} as const;

const words = (name: string): string => name.replaceAll("_", " ");
const short = (text: string): string => (text.length > MOST_WORDS ? `${text.slice(0, MOST_WORDS - 1)}…` : text);

function listed({ name, tool }: OfferedTool, inputSchema: JsonObject): JsonObject {
  const title = words(name).replace(/^./, (letter) => letter.toUpperCase());
  return {
    name,
    title,
    description: short(tool.summary ?? `${title}.`),
    inputSchema,
    annotations: tool.mutating
      ? { readOnlyHint: false, destructiveHint: true, idempotentHint: tool.idempotency !== "none" }
      : { readOnlyHint: true },
  };
}

/** A page of a listing, and where the next one begins. */
export function pageOfTools(
  listing: readonly JsonObject[],
  from: number,
  { pageBytes = 131_072 }: ListingOptions = {},
): { readonly tools: readonly JsonObject[]; readonly next: number | undefined } {
  let bytes = 0;
  let to = from;
  // One tool at least, however large.
  while (to < listing.length && (to === from || bytes + bytesOf(listing[to]) <= pageBytes))
    bytes += bytesOf(listing[to++]);
  return { tools: listing.slice(from, to), next: to < listing.length ? to : undefined };
}
