/** Names of generated code. One that cannot be told from another, or that would break the code, is made another here. */
import { createHash } from "node:crypto";

/**
 * Words that cannot name an export: the language's, `then`, which would make `await import()` call it, and those that
 * emitted modules use themselves.
 */
const reserved = new Set(
  (
    "arguments arms await break case catch class const continue debugger default delete dispatch do else enum eval export extends false " +
    "finally for function if implements import in instanceof interface let new null package precompiled private protected public request return " +
    "static super switch then this throw tool true try typeof undefined validator validators var void while with yield"
  ).split(" "),
);

/** Types every module has; one of the release by the same name would hide it. */
const globalTypes = new Set(
  (
    "Array Boolean Date Error Exclude Extract Function Map Number Object Omit Partial Pick Promise Readonly Record Required " +
    "Set String Symbol"
  ).split(" "),
);

/** Types of the contract that emitted modules import, and the name of the type compiler's root. */
const importedTypes = [
  "AdbindRoot",
  "Answer",
  "ArmsOf",
  "TypedEvent",
  "Failure",
  "Handlers",
  "SchemaNode",
  "Tool",
  "ToolNodes",
];

const words = (text: string): string[] => text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");

const upperFirst = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** `create_media_buy` -> `CreateMediaBuy`. A letter after a digit is a capital, which is how the type compiler has it. */
export const pascalCase = (text: string): string =>
  words(text)
    .map(upperFirst)
    .join("")
    .replace(/\d+[a-z]/g, (match) => match.toUpperCase());

const camelCase = (text: string): string => {
  const pascal = pascalCase(text);
  return pascal.charAt(0).toLowerCase() + pascal.slice(1);
};

/** Names the release module exports itself. */
const moduleExports = [
  "EntryPoints",
  "ErrorCode",
  "SellerFor",
  "SpecialismId",
  "checkSpecialism",
  "defaultUnknownRecovery",
  "errorCodes",
  "events",
  "facts",
  "recoveryOf",
  "release",
  "schemas",
  "specialisms",
  "tools",
];

/** Name of the constant a tool is exported as, where no other tool is in its way. */
const identOf = (tool: string): string => {
  const ident = camelCase(tool);
  return reserved.has(ident) || moduleExports.includes(ident) ? `${ident}Tool` : ident;
};

/** What a tool is called in code: its constant is `ident`, and what it exports beside that is named after `pascal`. */
export interface ToolNames {
  readonly ident: string;
  readonly pascal: string;
}

/** What a tool may be called: its own name, and from the first other one on that with `Tool`, `Tool2`, `Tool3` behind it. */
export function namesOfTool(tool: string, others = 0): ToolNames {
  const label = others === 0 ? tool : `${tool}_tool${others === 1 ? "" : `_${others}`}`;
  return { ident: identOf(label), pascal: pascalCase(label) };
}

/** Every name a tool exports. */
const exportsOf = ({ ident, pascal }: ToolNames): string[] => [ident, `handle${pascal}`, `${pascal}Arms`];

/**
 * What each tool of a release is called, by all of its tools: a part of it calls them as the whole does. Names that differ on the
 * wire may be one in code (`get_a1` and `get_a_1`, or `order`, whose handler is called as `handle_order` is): the shorter keeps it,
 * and of those as long the first.
 */
export function nameTools(tools: readonly string[]): ReadonlyMap<string, ToolNames> {
  const named = new Map<string, ToolNames>();
  const taken = new Set<string>();
  const claim = (tool: string, others: number): boolean => {
    const names = namesOfTool(tool, others);
    const own = exportsOf(names);
    if (own.some((name) => taken.has(name))) return false;
    for (const name of own) taken.add(name);
    named.set(tool, names);
    return true;
  };
  const order = [...tools].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  // Nobody loses the name that is his to one who makes do with another.
  for (const tool of order.filter((one) => !claim(one, 0))) {
    let others = 1;
    while (!claim(tool, others)) others += 1;
  }
  return named;
}

/** `<path>` or `<path>#<pointer>`, taken apart. */
export const splitPlace = (ref: string): { path: string; pointer: string } => {
  const hash = ref.indexOf("#");
  return hash < 0 ? { path: ref, pointer: "" } : { path: ref.slice(0, hash), pointer: ref.slice(hash + 1) };
};

/** Bytes a file's name may have before its extension: file systems take 255 with it. */
const MAX_UNIT_BYTES = 200;

/** Hex digits of a digest that tell names from each other whose ends are cut off. */
const UNIT_DIGITS = 12;

/** A file's name, of ASCII, at a length that every file system takes. */
export const unitName = (name: string): string =>
  name.length <= MAX_UNIT_BYTES
    ? name
    : `${name.slice(0, MAX_UNIT_BYTES - UNIT_DIGITS - 1)}-${createHash("sha256").update(name).digest("hex").slice(0, UNIT_DIGITS)}`;

/** Devices of Windows, which cannot open a file of that name whatever its extension; in lower case. */
const devices = /^(?:aux|con|nul|prn|(?:com|lpt)\d)$/;

/** No file of a folder of code may be called so: the folder's own module is, or a device. In lower case. */
const isNoUnit = (name: string): boolean => name === "index" || devices.test(name);

/** File of a tool, without extension. No tool's name gives two hyphens, so that none is called as these are told apart. */
export const toolUnit = (tool: string): string =>
  unitName(isNoUnit(tool) ? `${tool}--tool` : tool.replaceAll("_", "-"));

/**
 * File of the schemas below a folder of the release, without extension. Folders that differ in case only have one, since
 * to many disks their files would be one.
 */
export function partUnit(folder: string): string {
  const name = folder.replace(/[^A-Za-z0-9-]/g, "-").toLowerCase();
  return isNoUnit(name) ? `${name}-folder` : unitName(name);
}

/** Names that no type of the release may have: the release module exports all of them side by side. */
export const takenNames = (tools: readonly string[]): ReadonlySet<string> =>
  new Set([...moduleExports, ...importedTypes, ...[...nameTools(tools).values()].flatMap(exportsOf)]);

const stemOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1).replace(/\.json$/, "");

const kebab = (text: string): string => words(text).join("-");

/**
 * A type name and a file name for each schema path: the file's own name, with its folders before it where two files of
 * the release share it or a global type has it.
 */
export function nameDocuments(
  paths: readonly string[],
  taken: ReadonlySet<string>,
): Map<string, { typeName: string; unit: string }> {
  const short = new Map<string, number>();
  const shortKey = (path: string): string => pascalCase(stemOf(path)).toLowerCase();
  for (const path of paths) short.set(shortKey(path), (short.get(shortKey(path)) ?? 0) + 1);
  const lowerTaken = new Set([...taken].map((name) => name.toLowerCase()));
  const names = new Map<string, { typeName: string; unit: string }>();
  const used = new Set<string>();
  for (const path of paths) {
    const stem = stemOf(path);
    const free =
      short.get(shortKey(path)) === 1 &&
      !globalTypes.has(pascalCase(stem)) &&
      !lowerTaken.has(shortKey(path)) &&
      !isNoUnit(stem.toLowerCase()) &&
      /^[A-Za-z]/.test(stem);
    let label = free ? stem : path.replace(/\.json$/, "");
    // What no name can begin with, and what the folder's own module or another export is called.
    const unusable =
      !/^[A-Za-z]/.test(label) || isNoUnit(label.toLowerCase()) || lowerTaken.has(pascalCase(label).toLowerCase());
    if (unusable) label = `schema-${label}`;
    // Paths that differ in punctuation or case only.
    const base = label;
    for (let count = 2; used.has(pascalCase(label).toLowerCase()); count++) label = `${base}-${count}`;
    used.add(pascalCase(label).toLowerCase());
    names.set(path, { typeName: pascalCase(label), unit: unitName(kebab(label)) });
  }
  return names;
}
