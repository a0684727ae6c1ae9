/** A published or own release as files in memory, cut down and changed: what a release may look like, and still be one. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Files } from "./release.js";

// biome-ignore lint/suspicious/noExplicitAny: mutations reach into JSON of every shape
export type Any = any;

/** The files of a release as JSON, less `bundled/` copies; one that is not JSON stays text. */
export function readFiles(folder: string): Files {
  const files: Files = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = name.split(path.sep).join("/");
    if (file.endsWith(".json") && !file.split("/").includes("bundled"))
      files[file] = JSON.parse(readFileSync(path.join(folder, name), "utf8"));
  }
  return files;
}

export const manifestOf = (files: Files): Any => files["manifest.json"];
export const schemaAt = (files: Files, file: string): Any => files[file];
export const requestOf = (files: Files, tool: string): Any => files[manifestOf(files).tools[tool].request_schema];

/** Every schema file but the manifest's own. */
export const schemaFiles = (files: Files): string[] =>
  Object.keys(files).filter((file) => file !== "manifest.json" && file !== "manifest.schema.json");

/** Calls `visit` on every object in a value, outermost first. */
function everyObject(value: Any, visit: (object: Any) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) visit(value);
  for (const inner of Object.values(value)) everyObject(inner, visit);
}

/** Rewrites every string that is a reference or an id. */
export function mapRefs(
  files: Files,
  change: (uri: string, key: "$ref" | "$id", file: string) => string | undefined,
): void {
  for (const file of schemaFiles(files)) {
    everyObject(files[file], (object) => {
      for (const key of ["$ref", "$id"] as const) {
        if (typeof object[key] !== "string") continue;
        const changed = change(object[key], key, file);
        if (changed === undefined) delete object[key];
        else object[key] = changed;
      }
    });
  }
}

/** What the ids of a release have before the path, e.g. `/schemas/3.1.0/`. */
export function idPrefix(files: Files): string {
  for (const file of schemaFiles(files)) {
    const id = schemaAt(files, file)?.$id;
    if (typeof id === "string" && id.endsWith(`/${file}`)) return id.slice(0, -file.length);
  }
  throw new Error("no file has an id that ends in its path");
}

/** The manifest's protocol word. */
export const wordIn = (files: Files): string => {
  const key = Object.keys(manifestOf(files)).find((name) => name.endsWith("_version"));
  return key!.slice(0, -"_version".length);
};

/** Keeps some tools, and what the manifest says of them; no schema file goes. */
function keepTools(files: Files, names: readonly string[]): void {
  const manifest = manifestOf(files);
  manifest.tools = Object.fromEntries(names.map((name) => [name, manifest.tools[name]]));
  for (const specialism of Object.values<Any>(manifest.specialisms)) {
    for (const key of ["entry_point_tools", "exercised_tools"])
      specialism[key] = specialism[key].filter((tool: string) => names.includes(tool));
  }
}

/** Keeps the files that the manifest's tools reach by whole-file references. */
function keepReached(files: Files): void {
  const prefix = idPrefix(files);
  const kept = new Set(["manifest.json", "manifest.schema.json"]);
  const pending = Object.values<Any>(manifestOf(files).tools).flatMap((tool) => [
    tool.request_schema,
    tool.response_schema,
    ...tool.async_response_schemas,
  ]);
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (kept.has(file) || files[file] === undefined) continue;
    kept.add(file);
    everyObject(files[file], ({ $ref }) => {
      if (typeof $ref === "string" && $ref.startsWith(prefix)) pending.push($ref.slice(prefix.length).split("#")[0]);
    });
  }
  for (const file of Object.keys(files)) if (!kept.has(file)) delete files[file];
}

/** Makes each tool's specialisms what the specialisms say. */
export function agree(files: Files): void {
  const { tools, specialisms } = manifestOf(files);
  for (const [name, tool] of Object.entries<Any>(tools)) {
    tool.specialisms = Object.keys(specialisms).filter((id) => specialisms[id].exercised_tools.includes(name));
  }
}

/** Some tools of a release, with what they reach. */
export function cut(folder: string, tools: readonly string[]): Files {
  const files = readFiles(folder);
  keepTools(files, tools);
  agree(files);
  keepReached(files);
  return files;
}

/** Replaces the protocol word wherever it is one: field names, text, ids. */
export function renameWord(files: Files, to: string): void {
  const from = wordIn(files);
  const text = JSON.stringify(files)
    .replaceAll(new RegExp(`\\b${from}(?=_)`, "g"), to)
    .replaceAll(new RegExp(`_${from}_`, "g"), `_${to}_`);
  replaceAll(files, JSON.parse(text));
}

function replaceAll(files: Files, fresh: Files): void {
  for (const file of Object.keys(files)) delete files[file];
  Object.assign(files, fresh);
}

/** Moves a folder; with `ids` the ids and references move along, else only the manifest learns of it. */
export function renameFolder(files: Files, from: string, to: string, ids: boolean): void {
  for (const file of Object.keys(files)) {
    if (!file.startsWith(`${from}/`)) continue;
    files[`${to}/${file.slice(from.length + 1)}`] = files[file];
    delete files[file];
  }
  const move = (file: string): string => (file.startsWith(`${from}/`) ? `${to}/${file.slice(from.length + 1)}` : file);
  movePaths(files, move);
  if (ids) {
    const prefix = idPrefix(files);
    mapRefs(files, (uri) => (uri.startsWith(prefix) ? prefix + move(uri.slice(prefix.length)) : uri));
  }
}

function movePaths(files: Files, move: (file: string) => string): void {
  for (const tool of Object.values<Any>(manifestOf(files).tools)) {
    tool.request_schema = move(tool.request_schema);
    tool.response_schema = move(tool.response_schema);
    tool.async_response_schemas = tool.async_response_schemas.map(move);
  }
}

/** Renames a tool in the manifest, and its schema files with their ids. */
export function renameTool(files: Files, from: string, to: string): void {
  const manifest = manifestOf(files);
  manifest.tools[to] = manifest.tools[from];
  delete manifest.tools[from];
  for (const specialism of Object.values<Any>(manifest.specialisms)) {
    for (const key of ["entry_point_tools", "exercised_tools"])
      specialism[key] = specialism[key].map((tool: string) => (tool === from ? to : tool));
  }
  const kebab = (name: string): string => name.replaceAll("_", "-");
  const prefix = idPrefix(files);
  const move = (file: string): string =>
    file.replace(new RegExp(`(^|/)${kebab(from)}-(request|response|async)`), `$1${kebab(to)}-$2`);
  for (const file of schemaFiles(files)) {
    const moved = move(file);
    if (moved === file) continue;
    files[moved] = files[file];
    delete files[file];
  }
  movePaths(files, move);
  mapRefs(files, (uri) => (uri.startsWith(prefix) ? prefix + move(uri.slice(prefix.length)) : uri));
}

const shuffled = <T>(list: T[], random: () => number): T[] => {
  const copy = [...list];
  for (let at = copy.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [copy[at], copy[other]] = [copy[other]!, copy[at]!];
  }
  return copy;
};

/** The same JSON with the keys of every object, and the files themselves, in another order. */
export function shuffle(files: Files, random: () => number): Files {
  const mix = (value: Any): Any => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(mix);
    return Object.fromEntries(shuffled(Object.entries(value), random).map(([key, inner]) => [key, mix(inner)]));
  };
  return Object.fromEntries(shuffled(Object.entries(files), random).map(([file, value]) => [file, mix(value)]));
}
