/**
 * The schema files of a release, in draft-07, with every `$ref` rewritten to `/<path>#<pointer>` and every `$id` removed.
 * Files are keyed by path: published releases repeat ids. Ids decide only where a reference leads.
 */
import type { Finding } from "../finding.js";
import { pointer } from "../finding.js";
import { isLaterDraft, type LaterSchema, movedRef, toDraft07 } from "./drafts.js";
import type { ReleaseFiles } from "./files.js";
import { absolute, ORIGIN, prefixesOf } from "./prefixes.js";
import { type ReadJson, readJson } from "./read-json.js";
import { atPointer, eachChild, isMap, type JsonMap, type Place, pathOf, type Schema } from "./walk.js";

export interface SchemaFile {
  path: string;
  /** Keys sorted, refs rewritten, ids removed. */
  schema: Schema;
  /** Files its references lead to. */
  uses: Set<string>;
  /** Its own faults; a tool that reaches the file cannot be generated. */
  findings: Finding[];
}

/** A reference after rewriting: `/<path>` or `/<path>#<pointer>`. */
export const splitRef = (ref: string): { path: string; pointer: string } => {
  const hash = ref.indexOf("#");
  return hash < 0 ? { path: ref.slice(1), pointer: "" } : { path: ref.slice(1, hash), pointer: ref.slice(hash + 1) };
};

const joinRef = (path: string, at: string): string => (at === "" ? `/${path}` : `/${path}#${at}`);

export class Closure {
  readonly files = new Map<string, SchemaFile>();
  /** The `$id` of each file that has one, as written. */
  readonly ids: ReadonlyMap<string, string>;
  /** What stands before a file's path in ids and absolute references, e.g. `/schemas/3.1.0/`. */
  readonly prefixes: readonly string[];
  private readonly read: Map<string, ReadJson>;
  private readonly origins = new Map<SchemaFile, Origin>();
  private readonly later: LaterSchema[] = [];
  private readonly found = new Map<string, string>();
  private index: Map<string, string> | undefined;

  constructor(private readonly source: ReleaseFiles) {
    this.read = new Map(source.list().map((path) => [path, readJson(source.read(path)!, path)]));
    const ids = new Map<string, string>();
    for (const [path, { value }] of this.read)
      if (isMap(value) && typeof value.$id === "string") ids.set(path, value.$id);
    this.ids = ids;
    this.prefixes = prefixesOf(this.read, ids);
  }

  /** Adds every file the release lists. Only then is all known that a schema of a later draft may lean on. */
  addAll(): void {
    for (const path of this.read.keys()) this.add(path);
    const moved = toDraft07(this.later, (ref) => this.schemaAt(ref));
    if (moved.size === 0) return;
    for (const { scanned } of this.origins.values())
      for (const schema of scanned) if (typeof schema.$ref === "string") schema.$ref = movedRef(schema.$ref, moved);
  }

  private schemaAt(ref: string): Schema | undefined {
    const { path, pointer: at } = splitRef(ref);
    const found = atPointer(this.files.get(path)?.schema ?? null, at);
    return isMap(found) || typeof found === "boolean" ? found : undefined;
  }

  /** Adds a file and all it refers to. Returns undefined when the release has no such file. */
  add(path: string): SchemaFile | undefined {
    const known = this.files.get(path);
    if (known !== undefined) return known;
    const read = this.read.get(path) ?? this.readUnlisted(path);
    if (read === undefined) return undefined;
    const { value, findings } = read;
    const usable = isMap(value) || typeof value === "boolean";
    if (!usable && findings.length === 0) {
      findings.push(
        fault(path, "", "schema-type", "a schema must be an object or a boolean", "Write a JSON schema here."),
      );
    }
    if (path.includes("#"))
      findings.push(
        fault(path, "", "file-name", "# in a name cannot be told from a reference's own", "Rename the file."),
      );
    const file: SchemaFile = { path, schema: usable ? value : true, uses: new Set(), findings };
    this.files.set(path, file);
    if (isMap(file.schema)) this.link(file, file.schema);
    return file;
  }

  /** Files that are no part of a release unless something refers to them. */
  private readUnlisted(path: string): ReadJson | undefined {
    const bytes = this.source.read(path);
    return bytes === undefined ? undefined : readJson(bytes, path);
  }

  /** Paths a file reaches, itself included. */
  reach(from: Iterable<string>): Set<string> {
    const reached = new Set<string>();
    const pending = [...from];
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      if (reached.has(path)) continue;
      reached.add(path);
      pending.push(...(this.files.get(path)?.uses ?? []));
    }
    return reached;
  }

  private link(file: SchemaFile, root: JsonMap): void {
    const own = typeof root.$id === "string" ? (absolute(root.$id, ORIGIN) ?? "") : undefined;
    const id = own ?? `/${file.path}`;
    this.origins.set(file, { id, later: isLaterDraft(root), anchors: new Map(), scanned: new Set() });
    this.scan(file, root, undefined);
  }

  /** Rewrites the references of a schema and of those inside it; each schema once. */
  private scan(file: SchemaFile, root: JsonMap, place: Place | undefined): void {
    const { id, later, anchors, scanned } = this.origins.get(file)!;
    const fresh: JsonMap[] = [];
    const refs: Reference[] = [];
    walkBases(root, place, { base: id, top: "" }, (schema, at, scope) => {
      if (scanned.has(schema)) return;
      scanned.add(schema);
      fresh.push(schema);
      if (later) this.later.push({ schema, ref: `/${file.path}#${pointer(...pathOf(at))}`, file });
      const anchor = anchorOf(schema);
      if (anchor !== undefined) anchors.set(anchor, pointer(...pathOf(at)));
      if (typeof schema.$ref === "string") refs.push({ schema, text: schema.$ref, place: at, scope });
    });
    // Ids have done their work once the scopes above are known; a validator would trip over repeated ones.
    for (const schema of fresh) {
      delete schema.$id;
      delete schema.$schema;
    }
    for (const ref of refs) ref.schema.$ref = this.resolve(file, ref) ?? ref.text;
  }

  private resolve(file: SchemaFile, ref: Reference): string | undefined {
    const hash = ref.text.indexOf("#");
    const uri = hash < 0 ? ref.text : ref.text.slice(0, hash);
    const fragment = hash < 0 ? "" : decode(ref.text.slice(hash + 1));
    const path = uri === "" ? file.path : this.find(uri, file.path, ref.scope.base);
    const target = path === undefined ? undefined : this.add(path);
    const quoted = JSON.stringify(ref.text);
    if (target === undefined) {
      const message = `$ref ${quoted} names no file of the release`;
      file.findings.push(
        fault(file.path, pointer(...pathOf(ref.place), "$ref"), "schema-missing", message, missingRemedy),
      );
      return undefined;
    }
    if (target !== file) file.uses.add(target.path);
    const at = this.place(target, fragment, uri === "" ? ref.scope.top : "");
    if (at === undefined) {
      const message = `$ref ${quoted} points at nothing in ${target.path}`;
      file.findings.push(
        fault(file.path, pointer(...pathOf(ref.place), "$ref"), "ref-dangling", message, danglingRemedy),
      );
      return undefined;
    }
    return joinRef(target.path, at);
  }

  /** Pointer a fragment stands for. A schema under a keyword we do not know is scanned when something points at it. */
  private place(target: SchemaFile, fragment: string, top: string): string | undefined {
    if (fragment !== "" && !fragment.startsWith("/")) return this.origins.get(target)?.anchors.get(fragment);
    const at = top + fragment;
    const schema = atPointer(target.schema, at);
    if (typeof schema === "boolean") return at;
    if (!isMap(schema)) return undefined;
    if (!this.origins.get(target)!.scanned.has(schema)) this.scan(target, schema, placeAt(at));
    return at;
  }

  /** File a URI leads to: by the release's own prefix, by the place of the referring file, or by an `$id` anywhere. */
  private find(uri: string, from: string, base: string): string | undefined {
    // Nearly every reference is an absolute path, and leads to one file wherever it stands.
    const known = uri.startsWith("/") ? this.found.get(uri) : undefined;
    if (known !== undefined) return known;
    const path = this.search(uri, from, base);
    if (path !== undefined && uri.startsWith("/") && base.startsWith("/")) this.found.set(uri, path);
    return path;
  }

  private search(uri: string, from: string, base: string): string | undefined {
    const id = absolute(uri, base);
    const here = absolute(uri, `/${from}`);
    const candidates = [
      ...this.prefixes.filter((prefix) => id?.startsWith(prefix)).map((prefix) => id!.slice(prefix.length)),
      ...(here?.startsWith("/") ? [here.slice(1)] : []),
    ];
    const path = candidates.map(decode).find((candidate) => this.add(candidate) !== undefined);
    return path ?? (id === undefined ? undefined : this.byId(id));
  }

  /** The index of ids is built when a reference needs it: renamed folders, ids that are not paths. */
  private byId(id: string): string | undefined {
    this.index ??= this.buildIndex();
    return this.index.get(id);
  }

  private buildIndex(): Map<string, string> {
    const index = new Map<string, string>();
    for (const path of this.read.keys()) {
      const own = this.ids.get(path);
      const known = own === undefined ? `/${path}` : absolute(own, ORIGIN);
      // The first by name wins; files that share an id are copies in every published release.
      if (known !== undefined && !index.has(known)) index.set(known, path);
    }
    return index;
  }
}

/** What a file's schemas were before their ids went. */
interface Origin {
  id: string;
  /** It is of a draft later than 07. */
  later: boolean;
  anchors: Map<string, string>;
  scanned: Set<JsonMap>;
}

interface Reference {
  schema: JsonMap;
  text: string;
  place: Place | undefined;
  scope: Scope;
}

interface Scope {
  /** Id that relative references resolve against. */
  base: string;
  /** Pointer of the schema that `#` means. */
  top: string;
}

/** `walk`, following nested `$id`s: inside one, `#` means that schema (draft-07, section 8.2). */
function walkBases(
  schema: Schema,
  place: Place | undefined,
  scope: Scope,
  visit: (schema: JsonMap, place: Place | undefined, scope: Scope) => void,
): void {
  if (!isMap(schema)) return;
  const id = place === undefined ? undefined : schema.$id;
  const inner =
    typeof id === "string" && !id.startsWith("#")
      ? { base: absolute(id, scope.base) ?? scope.base, top: pointer(...pathOf(place)) }
      : scope;
  visit(schema, place, inner);
  eachChild(schema, (child, keyword, name) => walkBases(child, { up: place, keyword, name }, inner, visit));
}

const decode = (fragment: string): string => {
  if (!fragment.includes("%")) return fragment;
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
};

/** Name a schema gives itself inside its file: `$anchor`, `$dynamicAnchor`, and draft-07's `$id: "#name"`. */
const anchorOf = ({ $anchor, $dynamicAnchor, $id }: JsonMap): string | undefined => {
  if (typeof $anchor === "string") return $anchor;
  if (typeof $dynamicAnchor === "string") return $dynamicAnchor;
  return typeof $id === "string" && $id.startsWith("#") ? $id.slice(1) : undefined;
};

/** The place a JSON pointer leads to. */
const placeAt = (at: string): Place | undefined =>
  at
    .split("/")
    .slice(1)
    .reduce<Place | undefined>(
      (up, token) => ({ up, keyword: token.replaceAll("~1", "/").replaceAll("~0", "~"), name: undefined }),
      undefined,
    );

const missingRemedy =
  "Add the file, correct the reference, or generate with --partial to leave out the tools that need it.";
const danglingRemedy =
  "Point at a schema that is there, or generate with --partial to leave out the tools that need it.";

const fault = (file: string, at: string, rule: string, message: string, remedy: string): Finding => ({
  level: "error",
  rule,
  file,
  pointer: at,
  message,
  remedy,
});
