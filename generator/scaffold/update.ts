/**
 * An existing project gets what it lacks: files, and arms in its handlers. What nobody changed is written anew; to what somebody
 * did only whole lines are added, and what cannot be added that way is named for the user to add.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  type ArrayLiteralExpression,
  Node,
  type ObjectLiteralExpression,
  Project,
  type SourceFile,
  SyntaxKind,
} from "ts-morph";
import { generatorName, hashOf } from "../emit/disk.js";
import { nameTools } from "../emit/names.js";
import type { Model } from "../model/model.js";
import { type InstalledFrom, installFrom } from "./installed-from.js";
import type { ProjectPlan } from "./library-plan.js";
import { bindingsOf } from "./texts.js";
import { isUntouched, type KeptFile, readRecord, type ScaffoldRecord, writeRecord, writeUnchanged } from "./written.js";

export interface ProjectUpdate {
  readonly files: readonly string[];
  readonly byHand: readonly string[];
  /** Files that their owner changed, where there is something new. */
  readonly kept: readonly KeptFile[];
}

const project = new Project({ skipAddingFilesFromTsConfig: true, skipFileDependencyResolution: true });

/** Parsed anew: the file may have changed since. */
const open = (file: string): SourceFile =>
  project.createSourceFile(file, readFileSync(file, "utf8"), { overwrite: true });

/** What a project claims. */
export interface SellerClaims {
  readonly specialisms: readonly string[];
  /** Areas that stand in no specialism. */
  readonly areas: readonly string[];
}

/** What a seller's project claims; undefined where it is of another kind. */
export function claimsIn(folder: string): SellerClaims | undefined {
  const file = path.join(folder, "src/seller.ts");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (!text.includes('"adbind/behaviours"')) return undefined;
  const listed = (name: RegExp): string[] =>
    [...(name.exec(text)?.[1] ?? "").matchAll(/["']([\w-]+)["']/g)].map((match) => match[1]!);
  return { specialisms: listed(/\bspecialisms\s*[:=]\s*\[([^\]]*)\]/), areas: listed(/\bwith\s*:\s*\[([^\]]*)\]/) };
}

const SELLER = "src/seller.ts";

/** Files whose text is of the whole project: of a part of it they say too little. */
const ofTheWhole: readonly string[] = [SELLER, "README.md"];

/** Npm writes to it, too: only what has to be in it is looked at. */
const MANIFEST = "package.json";

const isPort = (file: string): boolean => /^src\/[\w-]+\.ts$/.test(file) && file !== SELLER && file !== "src/serve.ts";

/**
 * Whether the project can be planned as a new one: nobody changed what names its ports, and those that somebody did change stay
 * what they are.
 */
export function isPlannedAnew(folder: string, { files }: ProjectPlan, record: ScaffoldRecord): boolean {
  if (!isUntouched(folder, SELLER, record)) return false;
  return Object.entries(record.files).every(
    ([file, hash]) =>
      !isPort(file) ||
      isUntouched(folder, file, record) ||
      hash === hashOf(files.get(file) ?? "") ||
      !existsSync(path.join(folder, file)),
  );
}

export interface UpdateRequest {
  readonly model: Model;
  readonly name: string;
  readonly also: readonly string[];
  /** Specialisms that the project did not claim before. */
  readonly added: readonly string[];
  /** The plan is of all of the project, and not of the ports that it lacks. */
  readonly whole: boolean;
  /** What the project was asked to install adbind from. */
  readonly from: InstalledFrom;
}

/**
 * A project gets the release's bindings, the files and ports it lacks, the arms that its handlers lack, and anew what nobody
 * changed; every line of its owner's stays as it is.
 */
export function updateProject(folder: string, plan: ProjectPlan, request: UpdateRequest): ProjectUpdate {
  const { model, also, added, whole, from } = request;
  const record = readRecord(folder);
  const own = [...plan.files].filter(
    ([file]) => file !== MANIFEST && (whole || !ofTheWhole.includes(file) || !existsSync(path.join(folder, file))),
  );
  const { written, kept, known } = writeUnchanged(folder, new Map(own), record);
  const files = [...written];
  const ports = whole ? [] : written.filter(isPort);
  const byHand = [
    ...(whole ? [] : added).map((id) => `${SELLER}: ${JSON.stringify(id)} in specialisms`),
    ...unnamedReleases(folder, also).map((one) => `${SELLER}: ${JSON.stringify(`#bindings/${one}`)} in releases`),
  ];
  for (const file of globSync("{src,test}/**/*.ts", { cwd: folder }).sort()) {
    const target = path.join(folder, file);
    if (!/\bhandle[A-Z]/.test(readFileSync(target, "utf8"))) continue;
    const source = open(target);
    const before = source.getFullText();
    const name = file.split(path.sep).join("/");
    byHand.push(...addArms(source, model).map((what) => `${name}: ${what}`));
    if (source.getFullText() === before) continue;
    writeFileSync(target, source.getFullText());
    files.push(name);
  }
  const installed = installFrom(folder, from, generatorName().split(" ")[1]!);
  byHand.push(...installed.byHand);
  if (pointToBindings(folder, model.version, also) || installed.changed) files.push(MANIFEST);
  writeRecord(folder, { name: request.name, also, files: known }, record);
  const unnamed = ports.map((file) => `${SELLER}: the port of ${file}`);
  return { files: [...new Set(files)].sort(), byHand: [...byHand, ...unnamed], kept };
}

type Literal = ObjectLiteralExpression | ArrayLiteralExpression;

/**
 * Lines at the head of a literal: what stands there stays as it is, the last entry's missing comma included.
 * @returns false where the literal is written on one line
 */
function insertLines(source: SourceFile, literal: Literal, lines: readonly string[]): boolean {
  const text = source.getFullText();
  const start = literal.getStart();
  const end = text.indexOf("\n", start);
  if (end < 0 || end >= literal.getEnd()) return false;
  const first = Node.isObjectLiteralExpression(literal) ? literal.getProperties()[0] : literal.getElements()[0];
  if (first !== undefined && first.getStart() < end) return false;
  const margin = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", start) + 1))![0];
  source.insertText(end + 1, lines.map((line) => `${margin}  ${line}\n`).join(""));
  return true;
}

/** `handleCreateMediaBuy(answer, {...})` must have an arm for each status: those a release adds throw until written. */
export function addArms(source: SourceFile, model: Model): string[] {
  const names = nameTools(model.toolNames);
  const tools = new Map(model.tools.map((tool) => [`handle${names.get(tool.name)!.pascal}`, tool]));
  const byHand: string[] = [];
  // Text is inserted from the end on, so that what is before keeps its place.
  const calls = source.getDescendantsOfKind(SyntaxKind.CallExpression).reverse();
  for (const { name, start } of calls.map((one) => ({ name: one.getExpression().getText(), start: one.getStart() }))) {
    const tool = tools.get(name);
    const call = source.getDescendantsOfKind(SyntaxKind.CallExpression).find((one) => one.getStart() === start);
    if (tool === undefined || call === undefined) continue;
    const on = call.getArguments()[1];
    if (!Node.isObjectLiteralExpression(on) || on.getProperties().some(Node.isSpreadAssignment)) continue;
    const present = new Set(
      on.getProperties().map((one) => ("getName" in one ? one.getName().replaceAll(/["']/g, "") : "")),
    );
    const missing = tool.arms.map(({ status }) => status).filter((status) => !present.has(status));
    if (missing.length === 0) continue;
    const lines = missing.map((status) => `${armName(status)}: () => ${thrown(tool.name, status)},`);
    if (!insertLines(source, on, lines)) byHand.push(`arms ${missing.join(", ")} of ${name}`);
  }
  return byHand;
}

const armName = (status: string): string => (/^\w+$/.test(status) ? status : JSON.stringify(status));

const thrown = (tool: string, status: string): string =>
  `{ throw new Error("${tool} answered ${status}, which is not handled yet"); }`;

/** Further releases that the project does not import yet. */
function unnamedReleases(folder: string, also: readonly string[]): string[] {
  const text = readFileSync(path.join(folder, "src/seller.ts"), "utf8");
  return also.filter((version) => !text.includes(`"#bindings/${version}"`));
}

/** The release that a project is of, as its import of the bindings says; undefined where they are not there any more. */
export function versionThere(folder: string): string | undefined {
  const { imports } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as { imports?: object };
  const version = /"#bindings":[^}]*?\/bindings\/([^/"*]+)\/index\./.exec(JSON.stringify(imports ?? {}))?.[1];
  return version !== undefined && existsSync(path.join(folder, "bindings", version)) ? version : undefined;
}

/** The project's own import of its bindings, from the newest release on. @returns something changed */
function pointToBindings(folder: string, version: string, also: readonly string[]): boolean {
  const file = path.join(folder, "package.json");
  const before = readFileSync(file, "utf8");
  const pointed = before.replaceAll(/(\.\/(?:dist\/)?bindings\/)[^/"*]+(\/index\.)/g, `$1${version}$2`);
  const { imports, ...rest } = JSON.parse(pointed) as { imports?: Record<string, unknown> };
  const lacks = also.length > 0 && imports?.["#bindings/*"] === undefined;
  const named = { ...rest, imports: { ...imports, "#bindings/*": bindingsOf("*") } };
  const after = lacks ? `${JSON.stringify(named, null, 2)}\n` : pointed;
  if (after !== before) writeFileSync(file, after);
  return after !== before;
}
