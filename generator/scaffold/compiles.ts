/** Whether a project still compiles, and what to write where it does not. */
import path from "node:path";
import { type Diagnostic, type DiagnosticMessageChain, Project, ts } from "ts-morph";

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

/** @param folder of the project, its packages installed */
export function compiles(folder: string): Compiled {
  const project = new Project({ tsConfigFilePath: path.join(folder, "tsconfig.json") });
  const faults = project.getPreEmitDiagnostics().flatMap((one): CompileFault[] => {
    const file = one.getSourceFile();
    const at = file === undefined ? "tsconfig.json" : path.relative(folder, file.getFilePath());
    // What is generated is not the reader's to mend.
    if (at.startsWith("bindings")) return [];
    const place = `${at}:${one.getLineNumber() ?? 1}`;
    const what = textsOf(one.getMessageText()).at(-1) ?? "";
    return [{ place, what, write: declared(one) }];
  });
  return { faults: faults.slice(0, MOST), more: Math.max(0, faults.length - MOST) };
}
