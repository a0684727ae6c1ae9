/** The OpenAPI document the server is held to: read once, its operations listed with every reference resolved. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { operations } from "../../../generated/registry/openapi.js";

export type OperationId = keyof operations;

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema: JsonSchema;
}

export interface DocumentedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly schema: JsonSchema; readonly required?: boolean }>>;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema; readonly examples?: object }>>;
}

export interface Operation {
  readonly id: OperationId;
  readonly method: "GET" | "POST";
  /** As in the document: `/schemas/{version}/{path}`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly schema: JsonSchema; readonly example?: unknown };
  /** `required`: no answer without credentials. `optional`: they widen it. */
  readonly credentials: "none" | "optional" | "required";
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

export interface ApiDocument {
  /** As it is served. */
  readonly json: Readonly<Record<string, unknown>> & { readonly info: Readonly<Record<string, unknown>> };
  readonly operations: readonly Operation[];
}

/** A folder of this package, from its sources as from `dist/`. */
export function packageFolder(name: string): string {
  for (let folder = import.meta.dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    try {
      const { name: own } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as { name?: string };
      if (own === "adbind" || own === "adbind-cli") return path.join(folder, name);
    } catch {
      // Not here: one folder up.
    }
  }
  throw new Error("the package has no package.json");
}

type Node = Record<string, unknown>;

/** Resolves references in place of use; the document has none to itself. */
function resolver(document: Node): (node: unknown) => unknown {
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve);
    if (typeof node !== "object" || node === null) return node;
    const { $ref, ...rest } = node as Node;
    if (typeof $ref === "string") {
      const found = $ref
        .slice(2)
        .split("/")
        .reduce<unknown>((at, key) => (at as Node)[key.replaceAll("~1", "/").replaceAll("~0", "~")], document);
      return resolve({ ...(found as Node), ...rest });
    }
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [
        key,
        key === "examples" || key === "example" ? value : resolve(value),
      ]),
    );
  };
  return resolve;
}

const methods = { get: "GET", post: "POST" } as const;

const credentialsOf = (security: readonly object[] | undefined): Operation["credentials"] => {
  if (security === undefined || security.length === 0) return "none";
  return security.some((way) => Object.keys(way).length === 0) ? "optional" : "required";
};

interface RawOperation {
  operationId: OperationId;
  summary: string;
  description?: string;
  tags: string[];
  security?: object[];
  parameters?: Parameter[];
  requestBody?: {
    content: { "application/json": { schema: JsonSchema; examples?: Record<string, { value: unknown }> } };
  };
  responses: Record<string, DocumentedResponse>;
}

const bodyOf = ({ requestBody }: RawOperation): Pick<Operation, "body"> => {
  const content = requestBody?.content["application/json"];
  if (content === undefined) return {};
  const example = Object.values(content.examples ?? {})[0]?.value;
  return { body: { schema: content.schema, ...(example !== undefined && { example }) } };
};

let document: ApiDocument | undefined;

/** @returns the document that comes with the package; it is long, and read once in a process */
export function readApiDocument(): ApiDocument {
  document ??= read();
  return document;
}

function read(): ApiDocument {
  const file = path.join(packageFolder("manifests"), "registry/openapi.json");
  const json = JSON.parse(readFileSync(file, "utf8")) as ApiDocument["json"] & Node;
  const resolve = resolver(json);
  const operations: Operation[] = [];
  for (const [place, item] of Object.entries(json.paths as Record<string, Node>)) {
    for (const [key, method] of Object.entries(methods)) {
      if (item[key] === undefined) continue;
      const raw = resolve(item[key]) as RawOperation;
      operations.push({
        id: raw.operationId,
        method,
        path: place,
        summary: raw.summary,
        ...(raw.description !== undefined && { description: raw.description }),
        tag: raw.tags[0]!,
        parameters: raw.parameters ?? [],
        ...bodyOf(raw),
        credentials: credentialsOf(raw.security),
        responses: raw.responses,
      });
    }
  }
  return { json, operations };
}

/** `/a/{b}/c` as fastify writes it; what the document calls `path` may hold slashes. */
export const routeOf = ({ path: place }: Operation): string =>
  place.replace("{path}", "*").replace(/\{(\w+)\}/g, ":$1");
