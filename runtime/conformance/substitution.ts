/** Values that a storyboard leaves to the run: `$context.x`, `$generate:...`, `{{runner....}}`. */
import { isJsonObject } from "../contract/index.js";
import { fieldAt } from "./paths.js";

export interface SubstitutionSource {
  readonly context: ReadonlyMap<string, unknown>;
  readonly kit: unknown;
  readonly agentUrl: string;
  /** A fresh UUID version 4. */
  readonly uuid: () => string;
  /** Values generated under an alias, the same in the whole run. */
  readonly aliases: Map<string, string>;
  /** Where a step's webhooks are to be sent; undefined where nothing receives them. */
  readonly webhookBase: () => string | undefined;
  readonly webhookUrl: (step: string) => string | undefined;
  /** `operation_id` that a step of this storyboard has sent. */
  readonly operationId: (step: string) => string | undefined;
}

export interface Substituted {
  readonly value: unknown;
  /** Placeholders that stand for nothing. */
  readonly unresolved: readonly string[];
}

const CONTEXT = /^\$context\.(.+)$/;
const GENERATE = /^\$generate:(uuid_v4|opaque_id)(?:#(.+))?$/;
const KIT = /^\$test_kit\.(.+)$/;
const INSIDE = /\{\{\s*(runner\.webhook_base|runner\.webhook_url:[\w-]+|prior_step\.[\w-]+\.operation_id)\s*\}\}/g;

function generated(kind: string, alias: string | undefined, source: SubstitutionSource): string {
  const make = (): string => (kind === "opaque_id" ? `id_${source.uuid().replaceAll("-", "")}` : source.uuid());
  if (alias === undefined) return make();
  const known = source.aliases.get(alias);
  if (known !== undefined) return known;
  const fresh = make();
  source.aliases.set(alias, fresh);
  return fresh;
}

/** `$context.a.b`: the captured `a.b`, or what stands at `b` in the captured `a`. */
function fromContext(name: string, context: ReadonlyMap<string, unknown>): unknown {
  if (context.has(name)) return context.get(name);
  const [first = "", ...rest] = name.split(/[.[]/);
  return rest.length === 0 ? undefined : fieldAt(context.get(first), name.slice(first.length).replace(/^\./, ""));
}

function inside(name: string, source: SubstitutionSource): string | undefined {
  if (name === "runner.webhook_base") return source.webhookBase();
  if (name.startsWith("runner.webhook_url:")) return source.webhookUrl(name.slice("runner.webhook_url:".length));
  return source.operationId(name.split(".")[1]!);
}

export function substitute(template: unknown, source: SubstitutionSource): Substituted {
  const unresolved: string[] = [];
  const resolve = (placeholder: string, value: unknown): unknown => {
    if (value !== undefined) return value;
    unresolved.push(placeholder);
    return placeholder;
  };
  const ofText = (text: string): unknown => {
    const context = CONTEXT.exec(text);
    if (context !== null) return resolve(text, fromContext(context[1]!, source.context));
    const generate = GENERATE.exec(text);
    if (generate !== null) return generated(generate[1]!, generate[2], source);
    const kit = KIT.exec(text);
    if (kit !== null) return resolve(text, fieldAt(source.kit, kit[1]!));
    if (text === "$agent_url") return source.agentUrl;
    return text.replace(INSIDE, (whole, name: string) => String(resolve(whole, inside(name, source))));
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return ofText(value);
    if (Array.isArray(value)) return value.map(walk);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one)]));
  };
  return { value: walk(template), unresolved };
}
