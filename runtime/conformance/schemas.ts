/** The schemas that answers are judged by: those of exactly the release that is graded. */
import type { AnyTool, Release, SchemaDocuments } from "../contract/index.js";
import { type AnyValidator, createValidator, type ValidationError } from "../validate/index.js";

export interface SchemaVerdict {
  readonly ok: boolean;
  /** Path of the schema in the release. */
  readonly schema: string;
  readonly errors: readonly ValidationError[];
}

export interface SchemaJudge {
  /** Whether the release has a document at a path. */
  has(path: string): boolean;
  judge(path: string, value: unknown): SchemaVerdict;
  /** Why a request breaks its tool's schema; undefined where it does not, or the tool is none of the release. */
  request(tool: string, value: unknown): readonly ValidationError[] | undefined;
  /** Whether a request of the tool may have a member of that name and value. */
  takes(tool: string, member: string, value: unknown): boolean;
  /** Path of the schema of a task's answers; `ref` counts where it names another of its arms. */
  responseOf(tool: AnyTool | undefined, ref: string | undefined): string | undefined;
  /** The schema's `default` at a dotted path of properties. */
  defaultAt(path: string, dotted: string): unknown;
  /** Whether published schemas say of a field that its value names an entity: `product_id` names a `product`. */
  names(field: string, entity: string): boolean;
}

const plain = (ref: string): string => ref.replace(/^\/?(schemas\/[^/]+\/)?/, "");

export interface JudgedSchemas {
  /** Every schema of the release, those that no tool reaches among them; the tools' own by default. */
  readonly documents?: SchemaDocuments | undefined;
  /** The schemas with their annotations; without them no default and no entity is known. */
  readonly published?: SchemaDocuments | undefined;
}

/** Fields that name an entity, with it, over all schemas. */
function entitiesIn(schemas: readonly unknown[]): Set<string> {
  const found = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if (!Array.isArray(node)) {
      const { properties } = node as { properties?: Record<string, unknown> };
      for (const [name, property] of Object.entries(properties ?? {})) {
        const entity = (property as Record<string, unknown> | null)?.["x-entity"];
        if (typeof entity === "string") found.add(`${name} ${entity}`);
      }
    }
    for (const one of Object.values(node)) walk(one);
  };
  for (const schema of schemas) walk(schema);
  return found;
}

/** Compiles nothing before it is asked for. */
export async function createSchemaJudge(
  release: Release,
  { documents, published = {} }: JudgedSchemas = {},
): Promise<SchemaJudge> {
  const all = { ...(await release.schemas()), ...documents };
  const validator: AnyValidator = await createValidator({ tools: release.tools, schemas: async () => all });
  const has = (path: string): boolean => Object.hasOwn(all, path);
  const parsed = new Map<string, unknown>();
  const documentAt = (path: string): unknown => {
    if (!parsed.has(path)) parsed.set(path, Object.hasOwn(published, path) ? JSON.parse(published[path]!) : undefined);
    return parsed.get(path);
  };
  let entities: Set<string> | undefined;
  const request: SchemaJudge["request"] = (tool, value) => {
    if (!Object.hasOwn(release.tools, tool)) return undefined;
    const result = validator.request(tool, value);
    return result.ok ? undefined : result.errors;
  };
  return {
    has,
    request,
    takes: (tool, member, value) =>
      !request(tool, { [member]: value })?.some(({ pointer }) => pointer === `/${member}`),
    judge(path, value) {
      const result = validator.schema(path, value);
      return { ok: result.ok, schema: path, errors: result.ok ? [] : result.errors };
    },
    responseOf(tool, ref) {
      const own = tool === undefined ? undefined : (tool.arms as Record<string, string | null>).completed;
      const named = ref === undefined ? undefined : plain(ref);
      if (named !== undefined && has(named) && named !== own && (own == null || isOtherArm(named, own))) return named;
      return own ?? undefined;
    },
    names(field, entity) {
      entities ??= entitiesIn(Object.keys(published).map(documentAt));
      return entities.has(`${field} ${entity}`);
    },
    defaultAt: (path, dotted) => defaultIn(documentAt(path), dotted.split("."), documentAt),
  };
}

/** `x-response.json` has the arms `x-async-response-...json` and `x-rejected.json`. */
function isOtherArm(named: string, own: string): boolean {
  const stem = own.replace(/-response\.json$/, "");
  return named.startsWith(`${stem}-`) && !named.endsWith("-request.json");
}

function defaultIn(schema: unknown, path: readonly string[], documentAt: (path: string) => unknown): unknown {
  if (typeof schema !== "object" || schema === null) return undefined;
  const node = schema as Record<string, unknown>;
  if (typeof node.$ref === "string" && node.$ref.startsWith("/") && !node.$ref.includes("#")) {
    const found = defaultIn(documentAt(node.$ref.slice(1)), path, documentAt);
    if (found !== undefined) return found;
  }
  const [first, ...rest] = path;
  if (first === undefined) return node.default;
  const property = (node.properties as Record<string, unknown> | undefined)?.[first];
  if (property !== undefined) return defaultIn(property, rest, documentAt);
  for (const part of Array.isArray(node.allOf) ? node.allOf : []) {
    const found = defaultIn(part, path, documentAt);
    if (found !== undefined) return found;
  }
  return undefined;
}
