/**
 * Preloaded into every process of a test run that reads the sources: TypeScript becomes JavaScript, and nothing else is
 * looked at. tsx reads every file of every package too, which costs more than most tests do. Itself it is JavaScript:
 * Node would load a compiler to read it otherwise, in each of the thousand processes of a run.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, registerHooks, setSourceMapsSupport, stripTypeScriptTypes } from "node:module";
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
 * What sources' names of each other lead to: thousands of imports of a process name hundreds of files.
 * @type {Map<string, string>}
 */
const sources = new Map();

/**
 * Sources name each other by what they become.
 * @param {string} specifier
 * @param {string} parent
 * @returns {string | undefined} the source, under its one name wherever links lead to it
 */
function sourceOf(specifier, parent) {
  if (!/^(?:\.{0,2}\/|file:).*\.js$/.test(specifier)) return undefined;
  const { href } = new URL(specifier.replace(/\.js$/, ".ts"), parent);
  const known = sources.get(href);
  if (known !== undefined) return known;
  try {
    const found = pathToFileURL(realpathSync.native(fileURLToPath(href))).href;
    sources.set(href, found);
    return found;
  } catch {
    // It is JavaScript, or not there yet.
    return undefined;
  }
}

setSourceMapsSupport(true);
registerHooks({
  resolve(specifier, context, next) {
    const parent = context.parentURL;
    if (parent === undefined) return next(specifier, context);
    // A project has bindings of its own, which its package.json names.
    const alias = parent.startsWith(ownUrl) ? aliases.get(specifier) : undefined;
    if (alias !== undefined || !TYPESCRIPT.test(parent)) return next(alias ?? specifier, context);
    const url = sourceOf(specifier, parent);
    // Node would look for the same file again, and for the package.json it belongs to.
    return url === undefined ? next(specifier, context) : { url, format: "module", shortCircuit: true };
  },
  load(url, context, next) {
    if (!TYPESCRIPT.test(url) || url.includes("/node_modules/")) return next(url, context);
    return { format: "module", source: compiled(fileURLToPath(url)), shortCircuit: true };
  },
});
