/** Which room may import which, and which files may touch the disk, the console and the process. */
import type { Finding, Import, Rule, Source } from "./source.js";

/** Leaves that import nothing of ours; the contract is a file or a folder. */
const base = [
  "runtime/calendar",
  "runtime/contract",
  "runtime/contract/",
  "runtime/draining",
  "runtime/errors",
  "runtime/gathering",
  "runtime/json",
  "runtime/url",
  "runtime/listener",
  "runtime/log",
  "runtime/moment",
  "runtime/peer",
  "runtime/pieces",
  "runtime/printable",
  "runtime/timers",
  "runtime/unless-aborted",
  "runtime/trace-context",
];

/** What the few of them that lean on another do import. */
const above: Readonly<Record<string, readonly string[]>> = {
  "runtime/gathering": ["runtime/pieces"],
  "runtime/json": ["runtime/json-scan"],
  "runtime/peer": ["runtime/errors"],
};

const room = (name: string): string => `runtime/${name}/`;
const leaves = ["signing", "validate", "net", "extract", "facts"].map(room);
const ground = ["db", "store", "queue", "transport"].map(room);
const products = ["receiver", "sender", "registry", "buyer", "seller"].map(room);

const generatorBase = ["runtime/contract", "runtime/contract/", "runtime/errors", "runtime/json", "generator/finding"];
const stage = (name: string): string => `generator/${name}/`;

/**
 * What each part may import beside itself, with rooms that are still to come. Three departures from the drawing, all by
 * intent: the generator uses the shared leaves `errors` and `json`, generated validators use `adbind/standalone`, and
 * behaviours make their seller's sender, and find its issuer, since who opens a seller with one call is asked for neither.
 */
const allowed: readonly [part: string, uses: readonly string[]][] = [
  ["runtime/contract/", []],
  ...base.map((file): [string, readonly string[]] => [file, above[file] ?? []]),
  ["runtime/json-scan", []],
  ["generated/", ["adbind/contract", "adbind/standalone"]],
  ...["db", "validate", "net", "extract", "facts"].map((name): [string, string[]] => [room(name), base]),
  // The program that runs at once or waits, and nothing else of that room; what releases say of keys.
  [room("signing"), [...base, room("net"), room("facts"), "runtime/db/coroutine"]],
  [room("store"), [...base, room("db")]],
  [room("queue"), [...base, room("db")]],
  [room("transport"), [...base, ...leaves]],
  ...products.map((name): [string, string[]] => [name, [...base, ...leaves, ...ground]]),
  [
    room("behaviours"),
    [...base, room("facts"), ...ground, room("seller"), "runtime/sender/create", "runtime/net/issuer"],
  ],
  [room("conformance"), ["runtime/"]],
  [room("testing"), ["runtime/"]],
  ["generator/finding", []],
  [stage("load"), generatorBase],
  [stage("model"), [...generatorBase, stage("load")]],
  [stage("lint"), [...generatorBase, stage("load"), stage("model")]],
  ...["emit", "diff"].map((name): [string, string[]] => [stage(name), [...generatorBase, stage("model")]]),
  [stage("explorer"), [...generatorBase, stage("model"), stage("diff")]],
  ["generator/", generatorBase],
];

/** A seller is handed its sender, a buyer its receiver: what they need of each other is types; so is a behaviour. */
const handed = (part: string, { target, typeOnly }: Import): boolean =>
  typeOnly &&
  ((products.includes(part) && products.some((other) => within(other, target))) ||
    (part === room("behaviours") && within(room("sender"), target)));

/** The registry's wire shapes are generated from its API document; they are types, and nothing of them is there at run time. */
const isWireShape = (part: string, { target, typeOnly }: Import): boolean =>
  typeOnly && part === room("registry") && target === "generated/registry/openapi";

/** Ours by its path or by a package's name; a `#name` that stands for no file is ours too, and in no room. */
const isOurs = ({ target }: Import): boolean =>
  /^(generator|generated|runtime|cli|bench|test|templates|docs)\/|^adbind(-cli)?(\/|$)|^#/.test(target);

export const within = (part: string, target: string): boolean =>
  part.endsWith("/") ? target.startsWith(part) : target === part;

/** The part that a file stands in: the first row that holds it, so that a room's row goes before its parent's. */
const rowOf = (file: string) => allowed.find(([part]) => within(part, file.replace(/\.ts$/, "")));

/** What an import is called on the list of exceptions: one row for a room's habit, not one a file. */
const partOf = (target: string): string => rowOf(target)?.[0] ?? target;

function badImports(file: Source): Finding[] {
  const rule = rowOf(file.path);
  // Every room of runtime/ and generator/ has a rule; cli, bench, test, templates and docs may import anything.
  if (rule === undefined) {
    if (!/^(runtime|generator)\//.test(file.path)) return [];
    const message = "is in no room: give its folder a row in test/house/rooms.ts";
    return [{ key: file.path, file: file.path, line: 1, message }];
  }
  const [part, uses] = rule;
  return file.imports
    .filter(isOurs)
    .filter((used) => !isWireShape(part, used) && !handed(part, used))
    .filter(({ target }) => !within(part, target) && !uses.some((one) => within(one, target)))
    .map(({ target, line }) => ({
      key: `${part} -> ${partOf(target)}`,
      file: file.path,
      line,
      message: `imports ${target}, which ${part} may not: move what is shared down, or take it as a parameter`,
    }));
}

/** Imports point downwards between rooms: runtime, generator and generated; the others may import anything. */
export const roomsRule: Rule = (sources) => sources.flatMap(badImports);

/** Only load, render and disk of the generator (and the scaffold) touch the file system. */
export const diskRule: Rule = (sources) =>
  sources
    .filter(
      ({ path }) => path.startsWith("generator/") && !/^generator\/(load\/|emit\/(render|disk)|scaffold\/)/.test(path),
    )
    .flatMap((file) =>
      file.imports
        .filter(({ target }) => /^node:fs\b/.test(target))
        .map(({ line }) => ({
          key: file.path,
          file: file.path,
          line,
          message: "touches the file system: load/, emit/render, emit/disk and scaffold/ do that, hand it the bytes",
        })),
    );

/** A finding for each match of a pattern in the texts of some files. */
const matches =
  (where: RegExp, pattern: RegExp, message: string): Rule =>
  (sources) =>
    sources
      .filter(({ path }) => where.test(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(pattern)].map((match) => ({
          key: path,
          file: path,
          line: text.slice(0, match.index).split("\n").length,
          message,
        })),
      );

export const printRule = matches(
  /^(generator|runtime|generated)\//,
  /\bprocess\.(exit\b|stdout|stderr)|\bconsole\./g,
  "prints or exits: only cli/ does, return a value or throw",
);

export const defaultExportRule = matches(
  /^(generator|generated|runtime|cli|bench|test|templates|docs)\//,
  /^export default\b/gm,
  "has a default export: give it a name",
);

export const protocolNameRule = matches(
  /^(generator|runtime|cli|generated)\//,
  /adcp/gi,
  "names a protocol: wire names derive from the word in the manifest",
);
