/**
 * Preloaded into every process of a test run that reads the sources: TypeScript becomes JavaScript, and nothing else is
 * looked at. tsx reads every file of every package too, which costs more than most tests do. Itself it is JavaScript:
 * Node would load a compiler to read it otherwise, in each of the thousand processes of a run.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, registerHooks, stripTypeScriptTypes } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = path.resolve(import.meta.dirname, "../..");
const require = createRequire(import.meta.url);
/** Loaded when something has to be compiled. */
const esbuild = () => require("esbuild");
const { version } = require("esbuild/package.json");
const cache = path.join(root, ".cache/sources", version);

const TYPESCRIPT = /^file:.*\.ts$/;

const { compilerOptions } = JSON.parse(readFileSync(path.join(root, "tsconfig.json"), "utf8"));
/** Where names are found that are no package's. */
const aliases = new Map(
  Object.entries(compilerOptions.paths).map(([name, [file]]) => [name, pathToFileURL(path.join(root, file)).href]),
);
const ownUrl = pathToFileURL(`${root}/`).href;
const { target, verbatimModuleSyntax } = compilerOptions;
const options = JSON.stringify({ compilerOptions: { target, verbatimModuleSyntax } });
const COMPILED = /** @type {const} */ ({ loader: "ts", format: "esm", sourcemap: "inline", sourcesContent: false });

/**
 * For the next process; this one may be of somebody who may not write here.
 * @param {string} file
 * @param {string} code
 */
function keep(file, code) {
  const half = `${file}.${process.pid}`;
  try {
    mkdirSync(cache, { recursive: true });
    writeFileSync(half, code);
    renameSync(half, file);
  } catch {
    rmSync(half, { force: true });
  }
}

/**
 * The text with blanks where types stood: every line and column stays what it is, and no map has to be read by each process.
 * @param {string} text
 * @returns {string | undefined} undefined where more than types has to go, such as parameters that are fields
 */
function stripped(text) {
  const { emitWarning } = process;
  // It says that it is experimental, among what a command writes to stderr.
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(text);
  } catch {
    return undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * @param {string} text
 * @param {string} sourcefile
 * @returns {string}
 */
const mapped = (text, sourcefile) =>
  esbuild().transformSync(text, { ...COMPILED, sourcefile, tsconfigRaw: options }).code;

/**
 * By what a file says, wherever it stands: tests generate the same files again and again. Its map names it without a folder,
 * which is found beside the file.
 * @param {string} file
 * @returns {string}
 */
function compiled(file) {
  const text = readFileSync(file, "utf8");
  const sourcefile = path.basename(file);
  const kept = path.join(
    cache,
    createHash("sha256").update(`${sourcefile}\0${options}\0stripped\0${text}`).digest("hex"),
  );
  try {
    return readFileSync(kept, "utf8");
  } catch {
    const code = stripped(text) ?? mapped(text, sourcefile);
    keep(kept, code);
    return code;
  }
}

/**
 * Sources name each other by what they become.
 * @param {string} specifier
 * @param {string | undefined} parent
 */
function sourceOf(specifier, parent) {
  if (parent === undefined || !TYPESCRIPT.test(parent) || !/^(?:\.{0,2}\/|file:).*\.js$/.test(specifier))
    return undefined;
  const url = new URL(specifier.replace(/\.js$/, ".ts"), parent);
  return existsSync(url) ? url.href : undefined;
}

process.setSourceMapsEnabled(true);
registerHooks({
  resolve(specifier, context, next) {
    const parent = context.parentURL;
    // A project has bindings of its own, which its package.json names.
    const alias = parent?.startsWith(ownUrl) ? aliases.get(specifier) : undefined;
    return next(alias ?? sourceOf(specifier, parent) ?? specifier, context);
  },
  load(url, context, next) {
    if (!TYPESCRIPT.test(url) || url.includes("/node_modules/")) return next(url, context);
    return { format: "module", source: compiled(fileURLToPath(url)), shortCircuit: true };
  },
});
