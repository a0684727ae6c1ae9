/** What a release says of one of its tools, codes, specialisms or fields. */
import { messagesOf } from "../../generator/diff/diff.js";
import type { DiffFinding } from "../../generator/diff/finding.js";
import { sided } from "../../generator/diff/prove.js";
import type { DiffSide } from "../../generator/diff/side.js";
import { smallest } from "../../generator/diff/witness.js";
import { eachConditional, eachInside, type Json, type Shape } from "../../generator/model/shape.js";
import { type FieldPlace, fieldPlaces, MOST_PLACES, rootFields } from "./place.js";

export interface CodeExplained {
  readonly kind: "code";
  readonly code: string;
  readonly recovery: string;
  /** Who can do something about it. */
  readonly acts: string;
  readonly description: string;
  readonly suggestion: string;
  /** An error as it travels. */
  readonly sample: Json;
  /** Tools whose schemas speak of it. */
  readonly tools: readonly string[];
  /** Of the releases at hand. */
  readonly first?: string;
  readonly last?: string;
}

export interface ToolExplained {
  readonly kind: "tool";
  readonly tool: string;
  readonly summary: string;
  readonly protocol: string;
  readonly mutating: boolean;
  readonly idempotency: string;
  readonly request: {
    readonly schema: string;
    readonly required: readonly string[];
    readonly optional: readonly string[];
  };
  /** A request that the release accepts. */
  readonly sample?: Json;
  readonly arms: readonly { readonly status: string; readonly schema?: string; readonly required: readonly string[] }[];
  readonly specialisms: readonly string[];
  readonly addedIn?: string;
  readonly deprecatedIn?: string;
  readonly supersededBy?: readonly string[];
  readonly fallback?: Json;
  readonly first?: string;
  readonly last?: string;
}

export interface SpecialismExplained {
  readonly kind: "specialism";
  readonly specialism: string;
  readonly title?: string;
  readonly protocol: string;
  readonly role?: string;
  /** Tools that who claims it must answer. */
  readonly entryPoints: readonly string[];
  readonly exercised: readonly string[];
  /** Steps of the graders that are no tools. */
  readonly harness: readonly string[];
  readonly first?: string;
  readonly last?: string;
}

export interface FieldExplained {
  readonly kind: "field";
  readonly field: string;
  readonly places: readonly (FieldPlace & { readonly tool: string; readonly side: string })[];
  /** Places that are not told. */
  readonly more: number;
}

export interface FindingExplained {
  readonly kind: "finding";
  readonly finding: DiffFinding;
  /** What its rule says. */
  readonly rule: string;
}

export type Explained = CodeExplained | ToolExplained | SpecialismExplained | FieldExplained | FindingExplained;

const actors: Readonly<Record<string, string>> = {
  correctable: "the caller: mend the request and send it again, under a new key",
  transient: "the caller: send the same again later, with the same key",
  terminal: "a person: nothing the caller sends changes it",
};

/** Schemas that a tool has for itself: those of its messages, and what stands inside them. */
function textsOf(shape: Shape): string[] {
  const own = shape.kind === "enum" ? shape.values.map(String) : shape.kind === "const" ? [String(shape.value)] : [];
  const found = [shape.description ?? "", ...own];
  const visit = (inner: Shape): void => void found.push(...textsOf(inner));
  eachInside(shape, visit);
  eachConditional(shape, visit);
  return found;
}

function toolsNaming({ model }: DiffSide, code: string): string[] {
  const word = new RegExp(`\\b${code}\\b`);
  return model.tools
    .filter((tool) =>
      [...messagesOf(tool).values()].some((ref) => {
        const shape = model.resolve(ref);
        return shape !== undefined && textsOf(shape).some((text) => word.test(text));
      }),
    )
    .map(({ name }) => name);
}

export function explainCode(side: DiffSide, code: string): CodeExplained | undefined {
  const known = side.model.codes.find((one) => one.code === code);
  if (known === undefined) return undefined;
  const { recovery, description, suggestion } = known;
  return {
    kind: "code",
    code,
    recovery,
    acts: actors[recovery] ?? recovery,
    description,
    suggestion,
    sample: { code, message: description, recovery, ...(suggestion !== "" && { suggestion }) },
    tools: toolsNaming(side, code),
    ...(known.addedIn !== undefined && { first: known.addedIn }),
  };
}

export function explainTool(side: DiffSide, name: string): ToolExplained | undefined {
  const { model } = side;
  const tool = model.tools.find((one) => one.name === name);
  if (tool === undefined) return undefined;
  const route = model.facts.tools.routes[name]?.value;
  const request = sided(side, tool.request);
  const sample = smallest(request);
  return {
    kind: "tool",
    tool: name,
    summary: tool.summary,
    protocol: tool.protocol,
    mutating: tool.mutating,
    idempotency: tool.idempotency,
    request: { schema: tool.request, ...rootFields(request.part) },
    ...(sample !== undefined && { sample }),
    arms: tool.arms.map(({ status, schema }) => ({
      status,
      ...(schema !== undefined && { schema }),
      required: schema === undefined ? [] : rootFields(sided(side, schema).part).required,
    })),
    specialisms: tool.specialisms,
    ...(tool.addedIn !== undefined && { addedIn: tool.addedIn }),
    ...(tool.deprecatedIn !== undefined && { deprecatedIn: tool.deprecatedIn }),
    ...(route?.supersededBy !== undefined && { supersededBy: route.supersededBy }),
    ...(route?.fallback !== undefined && { fallback: route.fallback as Json }),
  };
}

export function explainSpecialism({ model }: DiffSide, id: string): SpecialismExplained | undefined {
  const known = model.specialisms.find((one) => one.id === id.replaceAll("-", "_"));
  if (known === undefined) return undefined;
  const role = model.facts.roles[known.id]?.value;
  return {
    kind: "specialism",
    specialism: known.id,
    ...(known.title !== undefined && { title: known.title }),
    protocol: known.protocol,
    ...(role !== undefined && { role }),
    entryPoints: known.entryPoints,
    exercised: known.exercised,
    harness: known.harness,
  };
}

/** @param given a name, or `tool.name` */
export function explainField(side: DiffSide, given: string): FieldExplained | undefined {
  const [tool, field] = given.includes(".") ? given.split(".", 2) : [undefined, given];
  const places = side.model.tools
    .filter(({ name }) => tool === undefined || name === tool)
    .flatMap((one) =>
      [...messagesOf(one)].flatMap(([message, ref]) =>
        fieldPlaces(sided(side, ref).part, field!).map((place) => ({
          tool: one.name,
          side: message as string,
          ...place,
        })),
      ),
    );
  if (places.length === 0) return undefined;
  return {
    kind: "field",
    field: given,
    places: places.slice(0, MOST_PLACES),
    more: Math.max(0, places.length - MOST_PLACES),
  };
}
