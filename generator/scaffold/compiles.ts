/** Whether a project still compiles, and what to write where it does not. */
import path from "node:path";
import {
  type Diagnostic,
  type DiagnosticMessageChain,
  Node,
  type ObjectLiteralExpression,
  Project,
  SyntaxKind,
  type Type,
  ts,
} from "ts-morph";

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

/** The last line of a chain says what is wrong; those before it, of what. */
function textsOf(message: string | DiagnosticMessageChain): string[] {
  if (typeof message === "string") return [message];
  return [message.getMessageText(), ...(message.getNext() ?? []).flatMap(textsOf)];
}

/** Declarations that a compiler's message points at: `cache_scope: "public" | "account";`. */
const declared = ({ compilerObject }: Diagnostic): string[] =>
  (compilerObject.relatedInformation ?? []).flatMap(({ file, start = 0 }) => {
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

/** The object that lacks them, where it is written out. */
function literalAt(one: Diagnostic): ObjectLiteralExpression | undefined {
  const node = one.getSourceFile()?.getDescendantAtPos(one.getStart() ?? 0);
  const inside = node?.getParentOrThrow().getDescendantsOfKind(SyntaxKind.ObjectLiteralExpression)[0];
  return Node.isObjectLiteralExpression(node)
    ? node
    : (node?.getParentIfKind(SyntaxKind.ObjectLiteralExpression) ?? inside);
}

/** Longest type that is told: longer ones are read where they are declared. */
const LONGEST = 160;

/** `confirmed_at: string | null`, as the place wants it. */
function wanted(one: Diagnostic, what: string): string[] {
  const names = missingIn(what);
  const literal = names.length === 0 ? undefined : literalAt(one);
  const type = literal?.getContextualType();
  if (literal === undefined || type === undefined) return [];
  const kinds: readonly Type[] = type.isUnion() ? type.getUnionTypes() : [type];
  return names.map((name) => {
    const member = kinds.map((kind) => kind.getProperty(name)).find((found) => found !== undefined);
    const text = member?.getTypeAtLocation(literal).getText(literal) ?? "";
    return text === "" || text.length > LONGEST ? name : `${name}: ${text}`;
  });
}

/**
 * @param folder of the project, its packages installed
 * @param config the compiler's, in that folder
 */
export function compiles(folder: string, config = "tsconfig.json"): Compiled {
  const project = new Project({ tsConfigFilePath: path.join(folder, config) });
  const faults = project.getPreEmitDiagnostics().flatMap((one): CompileFault[] => {
    const file = one.getSourceFile();
    const at = file === undefined ? config : path.relative(folder, file.getFilePath());
    // What is generated is not the reader's to mend.
    if (at.startsWith("bindings")) return [];
    const place = `${at}:${one.getLineNumber() ?? 1}`;
    const what = textsOf(one.getMessageText()).at(-1) ?? "";
    const write = wanted(one, what);
    return [{ place, what: short(what), write: write.length > 0 ? write : declared(one) }];
  });
  return { faults: faults.slice(0, MOST), more: Math.max(0, faults.length - MOST) };
}
