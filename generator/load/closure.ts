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
import { anchorsOf, decode, type Home, placeAt, type Scope, walkBases } from "./scopes.js";
import { atPointer, isMap, type JsonMap, type Place, pathOf, type Schema } from "./walk.js";

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
  private readonly found = new Map<string, Home>();
  /** What has an id of its own inside of a file, by that id. */
  private readonly embedded = new Map<string, Home[]>();
  private readonly dynamic: { file: SchemaFile; ref: Reference }[] = [];
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
    this.settleDynamic();
    const moved = toDraft07(this.later, (ref) => this.schemaAt(ref));
    if (moved.size === 0) return;
    for (const { scanned } of this.origins.values())
      for (const schema of scanned) if (typeof schema.$ref === "string") schema.$ref = movedRef(schema.$ref, moved);
  }

  /** A `$dynamicRef` (in 2019-09 a `$recursiveRef`) that leads to one place, whoever asks, is a `$ref`. */
  private settleDynamic(): void {
    const resolved = this.dynamic.map((one) => ({ ...one, to: this.resolve(one.file, one.ref) }));
    for (const { file, ref, to } of resolved) {
      const name = ref.text.slice(ref.text.indexOf("#") + 1);
      if (to !== undefined && (ref.schema.$ref !== undefined || this.differs(name, splitRef(to).path, file))) continue;
      delete ref.schema[ref.keyword];
      if (to !== undefined) ref.schema.$ref = to;
    }
  }

  /** Another schema of the name may be asked before: one in the same file, or in a file that leads to the reference. */
  private differs(name: string, target: string, { path: from }: SchemaFile): boolean {
    return [...this.files.keys()].some((path) => {
      const times = this.origins.get(this.files.get(path)!)?.dynamic.filter((one) => one === name).length ?? 0;
      return path === target ? times > 1 : times > 0 && this.reach([path]).has(from);
    });
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
    this.origins.set(file, { id, later: isLaterDraft(root), anchors: new Map(), dynamic: [], scanned: new Set() });
    this.scan(file, root, undefined);
  }

  /** Rewrites the references of a schema and of those inside it; each schema once. */
  private scan(file: SchemaFile, root: JsonMap, place: Place | undefined): void {
    const { id, later, anchors, dynamic, scanned } = this.origins.get(file)!;
    const fresh: JsonMap[] = [];
    const refs: Reference[] = [];
    walkBases(root, place, { base: id, top: "" }, (schema, at, scope) => {
      if (scanned.has(schema)) return;
      scanned.add(schema);
      fresh.push(schema);
      if (later) this.later.push({ schema, ref: `/${file.path}#${pointer(...pathOf(at))}`, file });
      for (const anchor of anchorsOf(schema)) anchors.set(`${scope.top}#${anchor}`, pointer(...pathOf(at)));
      if (typeof schema.$dynamicAnchor === "string") dynamic.push(schema.$dynamicAnchor);
      if (schema.$recursiveAnchor === true) dynamic.push("");
      this.embed(scope, { path: file.path, at });
      for (const keyword of later ? ["$ref", "$dynamicRef", "$recursiveRef"] : ["$ref"]) {
        const text = schema[keyword];
        if (typeof text !== "string") continue;
        const ref = { schema, keyword, text, place: at, scope };
        if (keyword === "$ref") refs.push(ref);
        else this.dynamic.push({ file, ref });
      }
    });
    // Ids have done their work once the scopes above are known; a validator would trip over repeated ones. So have names,
    // of which each document inside of a file has its own.
    for (const schema of fresh) for (const keyword of later ? spent : [...spent, ...unsaid]) delete schema[keyword];
    for (const ref of refs) ref.schema.$ref = this.resolve(file, ref) ?? ref.text;
  }

  private embed({ base, top }: Scope, { path, at }: { path: string; at: Place | undefined }): void {
    if (top === "" || top !== pointer(...pathOf(at))) return;
    this.embedded.set(base, [...(this.embedded.get(base) ?? []), { path, top }]);
  }

  private resolve(file: SchemaFile, ref: Reference): string | undefined {
    const hash = ref.text.indexOf("#");
    const uri = hash < 0 ? ref.text : ref.text.slice(0, hash);
    const fragment = hash < 0 ? "" : decode(ref.text.slice(hash + 1));
    const home = uri === "" ? { path: file.path, top: ref.scope.top } : this.find(uri, file.path, ref.scope.base);
    const target = home === undefined ? undefined : this.add(home.path);
    const quoted = `${ref.keyword} ${JSON.stringify(ref.text)}`;
    const place = pointer(...pathOf(ref.place), ref.keyword);
    if (home === undefined || target === undefined) {
      const message = `${quoted} names no file of the release`;
      file.findings.push(fault(file.path, place, "schema-missing", message, missingRemedy));
      return undefined;
    }
    if (target !== file) file.uses.add(target.path);
    const at = this.place(target, fragment, home.top);
    if (at === undefined) {
      const message = `${quoted} points at nothing in ${target.path}`;
      file.findings.push(fault(file.path, place, "ref-dangling", message, danglingRemedy));
      return undefined;
    }
    return joinRef(target.path, at);
  }

  /** Pointer a fragment stands for. A schema under a keyword we do not know is scanned when something points at it. */
  private place(target: SchemaFile, fragment: string, top: string): string | undefined {
    if (fragment !== "" && !fragment.startsWith("/"))
      return this.origins.get(target)?.anchors.get(`${top}#${fragment}`);
    const at = top + fragment;
    const schema = atPointer(target.schema, at);
    if (typeof schema === "boolean") return at;
    if (!isMap(schema)) return undefined;
    if (!this.origins.get(target)!.scanned.has(schema)) this.scan(target, schema, placeAt(at));
    return at;
  }

  /** Where a URI leads: by the release's own prefix, by the place of the referring file, or by an `$id` anywhere. */
  private find(uri: string, from: string, base: string): Home | undefined {
    // Nearly every reference is an absolute path, and leads to one file wherever it stands.
    const known = uri.startsWith("/") ? this.found.get(uri) : undefined;
    if (known !== undefined) return known;
    const id = absolute(uri, base);
    const path = this.search(uri, from, id);
    if (path === undefined) return id === undefined ? undefined : this.insideOf(id, from);
    const home = { path, top: "" };
    if (uri.startsWith("/") && base.startsWith("/")) this.found.set(uri, home);
    return home;
  }

  private search(uri: string, from: string, id: string | undefined): string | undefined {
    const here = absolute(uri, `/${from}`);
    const candidates = [
      ...this.prefixes.filter((prefix) => id?.startsWith(prefix)).map((prefix) => id!.slice(prefix.length)),
      ...(here?.startsWith("/") ? [here.slice(1)] : []),
    ];
    const path = candidates.map(decode).find((candidate) => this.add(candidate) !== undefined);
    return path ?? (id === undefined ? undefined : this.byId(id));
  }

  /** What has the id inside of a file, the referring one first. That it stands in another is known when all are read. */
  private insideOf(id: string, from: string): Home | undefined {
    const known = () => this.embedded.get(id);
    const own = known()?.find(({ path }) => path === from);
    if (own !== undefined) return own;
    for (const path of this.read.keys()) this.add(path);
    return known()?.[0];
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
  /** By the pointer of the document that they are in, and their name. */
  anchors: Map<string, string>;
  /** Names of its `$dynamicAnchor`s. */
  dynamic: string[];
  scanned: Set<JsonMap>;
}

interface Reference {
  schema: JsonMap;
  keyword: string;
  text: string;
  place: Place | undefined;
  scope: Scope;
}

/** Keywords that say only where references lead. */
const spent = ["$id", "$schema", "$anchor", "$dynamicAnchor", "$recursiveAnchor"];

/** Words that say nothing in draft-07, and would to who judges: it counts for the later drafts' sake. */
const unsaid = ["minContains", "maxContains"];

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
