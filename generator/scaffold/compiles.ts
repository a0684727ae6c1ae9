/** Whether a project still compiles, and what to write where it does not. */
import path from "node:path";
import { Project, ts } from "ts-morph";

export interface CompileFault {
  /** `src/seller.ts:22`. */
  readonly place: string;
  readonly what: string;
  /** Members that are wanted, as the release's bindings declare them. */
  readonly write: readonly string[];
}

export interface Compiled {
  readonly faults: readonly CompileFault[];
  /** Faults that are not told. */
  readonly more: number;
}

/** Types are spelled out by the compiler, members and all. */
const short = (what: string): string => what.replace(/'\{[^']{80,}\}'/g, "what the release wants");

/** As many faults as somebody reads. */
const MOST = 20;

/** Declarations that a compiler's message points at: `cache_scope: "public" | "account";`. */
const declared = ({ relatedInformation = [] }: ts.Diagnostic): string[] =>
  relatedInformation.flatMap(({ file, start = 0 }) => {
    if (file === undefined) return [];
    const { line } = ts.getLineAndCharacterOfPosition(file, start);
    const text = file.text.split("\n")[line]?.trim() ?? "";
    return /^["\w$]+\??:/.test(text) ? [`${text} (${path.basename(file.fileName)}:${line + 1})`] : [];
  });

/** Members that a message says are missing. */
const missingIn = (what: string): string[] => {
  const [, one] = /^Property '([^']+)' is missing in type/.exec(what) ?? [];
  if (one !== undefined) return [one];
  const [, several = ""] = /missing the following properties from type .*: ([^:]+)$/s.exec(what) ?? [];
  return several.split(/, | and \d+ more/).filter((name) => /^["\w$]+$/.test(name));
};

const literalIn = (node: ts.Node): ts.ObjectLiteralExpression | undefined =>
  ts.isObjectLiteralExpression(node) ? node : ts.forEachChild(node, literalIn);

/** The object that lacks them, where it is written out. */
function literalAt({ file, start = 0 }: ts.Diagnostic): ts.ObjectLiteralExpression | undefined {
  const at = (node: ts.Node): ts.Node | undefined =>
    node.getStart(file) <= start && start < node.getEnd() ? (ts.forEachChild(node, at) ?? node) : undefined;
  const node = file && at(file);
  if (node === undefined || ts.isObjectLiteralExpression(node)) return node;
  return ts.isObjectLiteralExpression(node.parent) ? node.parent : literalIn(node.parent);
}

/** Longest type that is told: longer ones are read where they are declared. */
const LONGEST = 160;

/** `confirmed_at: string | null`, as the place wants it. */
function wanted(one: ts.Diagnostic, what: string, checker: ts.TypeChecker): string[] {
  const names = missingIn(what);
  const literal = names.length === 0 ? undefined : literalAt(one);
  const type = literal && checker.getContextualType(literal);
  if (literal === undefined || type === undefined) return [];
  const kinds: readonly ts.Type[] = type.isUnion() ? type.types : [type];
  return names.map((name) => {
    const member = kinds.map((kind) => kind.getProperty(name)).find((found) => found !== undefined);
    const type = member && checker.getTypeOfSymbolAtLocation(member, literal);
    const text = type === undefined ? "" : checker.typeToString(type, literal, ts.TypeFormatFlags.NoTruncation);
    return text === "" || text.length > LONGEST ? name : `${name}: ${text}`;
  });
}

/** Where ts-morph keeps what the language itself declares: in memory. */
const LIBRARY = "/node_modules/typescript/lib";

/** The compiler's own host, which knows which files are modules: ts-morph's holds all of them for CommonJS. */
function hostOf(options: ts.CompilerOptions): ts.CompilerHost {
  const library = new Project({ skipAddingFilesFromTsConfig: true }).getModuleResolutionHost();
  const host = ts.createCompilerHost(options, true);
  const { readFile, fileExists } = host;
  const own = (name: string): boolean => name.startsWith(`${LIBRARY}/`);
  return Object.assign(host, {
    getDefaultLibLocation: () => LIBRARY,
    getDefaultLibFileName: () => `${LIBRARY}/${ts.getDefaultLibFileName(options)}`,
    readFile: (name: string) => (own(name) ? library.readFile(name) : readFile(name)),
    fileExists: (name: string) => (own(name) ? library.fileExists(name) : fileExists(name)),
  });
}

/** What the compiler says of a project, its configuration first. */
function diagnosticsOf(file: string): { readonly said: readonly ts.Diagnostic[]; readonly checker?: ts.TypeChecker } {
  const unread: ts.Diagnostic[] = [];
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (one: ts.Diagnostic) => void unread.push(one) };
  const config = ts.getParsedCommandLineOfConfigFile(file, {}, host);
  if (config === undefined) return { said: unread };
  const program = ts.createProgram(config.fileNames, config.options, hostOf(config.options));
  const said = [...config.errors, ...ts.getPreEmitDiagnostics(program)];
  return { said, checker: program.getTypeChecker() };
}

/**
 * @param folder of the project, its packages installed
 * @param config the compiler's, in that folder
 */
export function compiles(folder: string, config = "tsconfig.json"): Compiled {
  const { said, checker } = diagnosticsOf(path.join(folder, config));
  const faults = said.flatMap((one): CompileFault[] => {
    const at = one.file === undefined ? config : path.relative(folder, one.file.fileName);
    // What is generated is not the reader's to mend.
    if (at.startsWith("bindings")) return [];
    const line = one.file === undefined ? 0 : ts.getLineAndCharacterOfPosition(one.file, one.start ?? 0).line;
    // The last line of a chain says what is wrong; those before it, of what.
    const what = ts.flattenDiagnosticMessageText(one.messageText, "\n").split("\n").at(-1)?.trim() ?? "";
    const write = checker === undefined ? [] : wanted(one, what, checker);
    return [{ place: `${at}:${line + 1}`, what: short(what), write: write.length > 0 ? write : declared(one) }];
  });
  return { faults: faults.slice(0, MOST), more: Math.max(0, faults.length - MOST) };
}
