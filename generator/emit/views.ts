/** IR -> what each template shows. Everything is text and decided here; templates only lay it out. */
import { createHash } from "node:crypto";
import type { CodeModel, Model, SpecialismModel, ToolModel } from "../model/model.js";
import { firstSentence } from "../model/sentence.js";
import { jsonLiteral, keyText, sourceText } from "./layout.js";
import { nameTools, partUnit, type ToolNames, toolUnit } from "./names.js";
import { contractModule, standaloneModule, standaloneSymbols, symbols } from "./symbols.js";
import type { CompiledTypes, TypePlace, TypeUnit } from "./types/compile.js";

/** Hex digits of a digest that a banner shows. */
const BANNER_DIGITS = 8;

export interface Banner {
  digest: string;
  sources: string[];
}

/** Digest of what a file was made from, and the files to look at. */
const bannerOf = (sources: string[], made: unknown): Banner => ({
  digest: createHash("sha256").update(JSON.stringify(made)).digest("hex").slice(0, BANNER_DIGITS),
  sources,
});

const literal = (value: unknown): string => JSON.stringify(value);

/** A comment ends where its text says so, unless it is kept from it. */
const docText = (text: string): string => text.replaceAll("*/", "* /").replace(/\s+/g, " ").trim();

interface Field {
  key: string;
  value: string;
}

const present = (fields: [key: string, value: unknown][], indent = "  "): Field[] =>
  fields
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: typeof value === "object" ? sourceText(value, indent) : literal(value) }));

const idempotencyDoc: Record<ToolModel["idempotency"], string> = {
  required: "idempotency_key required",
  optional: "idempotency_key optional",
  exempt: "naturally idempotent",
  none: "no idempotency_key",
};

function toolDocs(tool: ToolModel): string[] {
  const facts = [tool.protocol, tool.mutating ? "mutating" : "read-only", idempotencyDoc[tool.idempotency]];
  if (tool.addedIn !== undefined) facts.push(`added in ${docText(tool.addedIn)}`);
  return [
    ...(tool.summary === "" ? [] : [docText(tool.summary)]),
    `Surface and use: ${facts.join(", ")}.`,
    ...(tool.specialisms.length === 0 ? [] : [`Exercised by: ${tool.specialisms.join(", ")}.`]),
    ...(tool.deprecatedIn === undefined ? [] : [`@deprecated since ${docText(tool.deprecatedIn)}`]),
    `@generated from tool ${tool.name}`,
  ];
}

const groupImports = (places: readonly TypePlace[]): { unit: string; names: string[] }[] =>
  [...Map.groupBy(places, ({ unit }) => unit)]
    .map(([unit, group]) => ({ unit, names: [...new Set(group.map(({ name }) => name))].sort() }))
    .sort((a, b) => (a.unit < b.unit ? -1 : 1));

/** What a tool is made from, less the shapes: the documents' digests stand for them. */
const withoutShapes = ({ arms, ...tool }: ToolModel): object => ({
  ...tool,
  arms: arms.map(({ shape: _, ...arm }) => arm),
});

export function toolView(
  tool: ToolModel,
  { ident, pascal }: ToolNames,
  types: CompiledTypes,
  digestOf: (path: string) => string,
): object {
  const request = types.placeOf(tool.request);
  const data = tool.arms.map(({ status }) => types.armOf(tool, status));
  const arms = tool.arms.map(({ status, carries }, index) => ({
    key: keyText(status),
    type: carries === "failure" ? symbols.failure : (data[index]?.name ?? "unknown"),
  }));
  const sources = [
    tool.request,
    tool.response,
    ...tool.arms.flatMap(({ schema }) => (schema === undefined ? [] : [schema.split("#")[0]!])),
  ];
  const files = [...new Set(sources)].sort();
  return {
    ...bannerOf(files, [withoutShapes(tool), data, files.map(digestOf)]),
    contractModule,
    runtime: symbols.dispatch,
    contract: [symbols.answer, symbols.failure, symbols.handlers, symbols.tool].map((name) => `type ${name}`),
    imports: groupImports([request, ...data.filter((place) => place !== undefined)]),
    name: tool.name,
    ident,
    pascal,
    literal: literal(tool.name),
    request: request.name,
    docs: toolDocs(tool),
    arms,
    fields: present([
      ["name", tool.name],
      ["protocol", tool.protocol],
      ["summary", tool.summary === "" ? undefined : tool.summary],
      ["mutating", tool.mutating],
      ["idempotency", tool.idempotency],
      ["request", tool.request],
      ["arms", Object.fromEntries(tool.arms.map(({ status, schema }) => [status, schema ?? null]))],
      ["statuses", tool.statuses],
      ["failureFields", tool.failureFields],
      ["addedIn", tool.addedIn],
      ["deprecatedIn", tool.deprecatedIn],
    ]),
  };
}

const manifestBanner = (made: unknown): Banner => bannerOf(["manifest.json"], made);

export const toolsView = ({ tools, toolNames }: Model): object => {
  const names = nameTools(toolNames);
  const rows = tools.map((tool) => ({
    name: keyText(tool.name),
    ident: names.get(tool.name)!.ident,
    unit: toolUnit(tool.name),
  }));
  return { ...manifestBanner(rows), tools: rows };
};

export const typeView = ({ source, declarations, imports }: TypeUnit, digest: string): object => ({
  ...bannerOf([source], digest),
  imports,
  declarations: declarations.map(({ text }) => text),
});

export const typesView = ({ units }: CompiledTypes): object => {
  const rows = units.map(({ unit }) => unit);
  return { ...manifestBanner(rows), units: rows };
};

const codeRow = ({ code, recovery, description, suggestion, addedIn }: CodeModel): object => ({
  code: keyText(code),
  doc: docText(description),
  fields: present([
    ["recovery", recovery],
    ["suggestion", suggestion],
    ["addedIn", addedIn],
  ]),
});

export function errorsView({ codes, policyNote, defaultUnknownRecovery }: Model): object {
  // What is emitted of a description is what the file is of.
  const told = codes.map((one) => ({ ...one, description: firstSentence(one.description) }));
  return {
    ...manifestBanner([told, policyNote, defaultUnknownRecovery]),
    contractModule,
    codes: told.map(codeRow),
    note: docText(policyNote),
    defaultRecovery: literal(defaultUnknownRecovery),
  };
}

const specialismRow = ({ id, protocol, title, role, entryPoints, exercised, harness }: SpecialismModel): object => ({
  id: keyText(id),
  doc: docText(`${title ?? id}. @generated from specialism ${id}`),
  fields: present(
    [
      ["protocol", protocol],
      ["title", title],
      ["role", role],
      ["entryPoints", entryPoints],
      ["exercised", exercised],
      ["harness", harness],
    ],
    "    ",
  ),
});

export const specialismsView = (model: Model): object => ({
  ...manifestBanner(model.specialisms),
  contractModule,
  specialisms: model.specialisms.map(specialismRow),
});

const factGroup = ([group, held]: [string, unknown]): object => ({ key: keyText(group), value: sourceText(held) });

export const factsView = (model: Model): object => ({
  ...bannerOf(["manifest.json", "*.json"], model.facts),
  contractModule,
  factsType: symbols.releaseFacts,
  groups: Object.entries(model.facts).map(factGroup),
});

export const schemaPartView = (documents: readonly { path: string; json: string }[]): object => ({
  ...bannerOf([`${partOf(documents[0]!)}/`], documents),
  // `  "path": ` and the two marks around the text stand in the line, too.
  documents: documents.map(({ path, json }) => ({ path: literal(path), json: jsonLiteral(json, path.length + 8) })),
});

export const schemasView = (parts: readonly string[]): object => ({ ...manifestBanner(parts), contractModule, parts });

/** Events by kind, each with the type of its body. */
export const eventsView = (model: Model, types: CompiledTypes): object => {
  const rows = model.events.map(({ kind, schema }) => ({ kind, schema, place: types.placeOf(schema) }));
  return {
    ...bannerOf(
      [...new Set(rows.map(({ schema }) => schema))].sort(),
      rows.map(({ kind, schema, place }) => [kind, schema, place]),
    ),
    contractModule,
    eventType: symbols.typedEvent,
    imports: groupImports(rows.map(({ place }) => place)),
    events: rows.map(({ kind, schema, place }) => ({ kind: keyText(kind), schema: literal(schema), body: place.name })),
  };
};

export const indexView = (model: Model): object => ({
  ...manifestBanner([model.version, model.digest, model.tools.map(({ name }) => name)]),
  contractModule,
  tools: model.tools.map((tool) => ({ unit: toolUnit(tool.name) })),
  doc: docText(
    `Release ${model.version}. Its identity is the version and the digest: a version may be published twice.`,
  ),
  word: literal(model.word),
  version: literal(model.version),
  releaseDigest: literal(model.digest),
  generatedAt: literal(model.generatedAt),
});

/** Part of the schemas a document is in: its first folder. */
export function partOf({ path }: { path: string }): string {
  return partUnit(path.includes("/") ? path.slice(0, path.indexOf("/")) : "root");
}

/** A file of compiled schemas; what they were made from is what they say. */
export const validatorSchemaView = (file: {
  source: string;
  nodes: readonly { name: string; text: string }[];
  imports: readonly TypePlace[];
}): object => ({
  ...bannerOf([file.source], file.nodes),
  contractModule,
  nodeType: symbols.schemaNode,
  nodes: file.nodes,
  imports: groupImports(file.imports),
});

export function validatorToolView(tool: ToolModel, { ident }: ToolNames, placeOf: (ref: string) => TypePlace): object {
  const request = placeOf(tool.request);
  const places = tool.arms.map(({ schema }) => (schema === undefined ? undefined : placeOf(schema)));
  return {
    ...bannerOf([tool.request, tool.response], [tool, places, request]),
    standaloneModule,
    nodesType: standaloneSymbols.toolNodes,
    name: tool.name,
    ident,
    unit: toolUnit(tool.name),
    request: request.name,
    imports: groupImports([request, ...places.filter((place) => place !== undefined)]),
    arms: tool.arms.map(({ status }, index) => ({ key: keyText(status), node: places[index]?.name ?? "null" })),
  };
}

export const validatorsView = (model: Model, places: ReadonlyMap<string, TypePlace>): object => ({
  ...toolsView(model),
  ...manifestBanner([...places]),
  standaloneModule,
  maker: standaloneSymbols.precompiled,
  validatorType: standaloneSymbols.validator,
  imports: groupImports([...places.values()]),
  documents: [...places].map(([ref, { name }]) => ({ ref: literal(ref), node: name })),
});
