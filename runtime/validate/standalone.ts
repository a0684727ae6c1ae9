/**
 * `adbind/standalone`: what validators emitted with `generate --standalone` run on. Their verdicts and errors are those of
 * `createValidator`; nothing is compiled, nothing of node is needed, and ajv is not loaded.
 */
import type { AnyTool, ArmsOf, SchemaNode, SchemaRef } from "../contract/index.js";
import { judgeBy } from "./judge.js";
import { missing } from "./missing.js";
import { checkOf } from "./precompiled/check.js";
import { type NodeCheck, passes } from "./precompiled/run.js";
import type { ValidationError, ValidationResult, Validator } from "./types.js";

export type { AnyValidator, ValidationError, ValidationResult, Validator } from "./types.js";

declare const tool: unique symbol;

/** The schemas of one tool: `T` exists for the compiler only. */
export interface ToolNodes<T extends AnyTool = AnyTool> {
  readonly request: SchemaNode;
  /** Null where the release gives an arm no schema. */
  readonly arms: { readonly [S in keyof ArmsOf<T>]: SchemaNode | null };
  readonly [tool]?: T;
}

// biome-ignore lint/suspicious/noExplicitAny: nodes of any tool; what they are of is inferred
type AnyNodes = { readonly [name: string]: ToolNodes<any> };

type ToolsOf<N> = { readonly [K in keyof N]: N[K] extends ToolNodes<infer T> ? T : never };

const faults = (check: NodeCheck, data: unknown, all: boolean): ValidationError[] | undefined => {
  const errors: ValidationError[] = [];
  return check(data, { all, errors, path: [] }) ? undefined : errors;
};

function judge<T>(node: SchemaNode, data: unknown): ValidationResult<T> {
  const check = checkOf(node);
  if (passes(check, data)) return { ok: true, data: data as T };
  return judgeBy(
    data,
    (value) => faults(check, value, false),
    (value) => faults(check, value, true),
  );
}

/**
 * Makes a validator of emitted schemas: of a whole release (`validators/index` does), or of the tools you name, so that a
 * bundle holds no more than those.
 * @param tools schemas by the tool's name on the wire
 * @param documents what `schema` judges by: schemas by path, or by path and pointer where something refers to that place
 */
export function precompiled<const N extends AnyNodes>(
  tools: N,
  documents: Readonly<Record<SchemaRef, () => SchemaNode>> = {},
): Validator<ToolsOf<N>> {
  const nodesOf = (name: string): ToolNodes => {
    const nodes = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (nodes === undefined)
      throw missing("the validator has no such tool", name, "make it of this tool's schemas too");
    return nodes;
  };
  return {
    request: (name, data) => judge(nodesOf(name).request, data),
    arm: <D>(name: string, status: string, data: unknown): ValidationResult<D> => {
      const arms = nodesOf(name).arms as Record<string, SchemaNode | null>;
      const node = Object.hasOwn(arms, status) ? arms[status] : undefined;
      if (node === undefined) throw missing(`the tool has no arm ${status}`, name, "use a key of its arms");
      return node === null ? { ok: true, data: data as D } : judge(node, data);
    },
    schema: (ref, data) => {
      const node = Object.hasOwn(documents, ref) ? documents[ref] : undefined;
      if (node === undefined) {
        throw missing("the validator has no such schema", ref, "name a schema that a tool of the release reaches");
      }
      return judge(node, data);
    },
  };
}
