/** Tools that an agent lacks, and what its releases say stands in for them: nothing is sent under another name unasked. */
import { isJsonObject, type JsonObject, type Release, type ToolRoute } from "../contract/index.js";
import { list } from "../extract/json-object.js";
import { localError } from "./fault.js";
import type { Adapter, LocalError, NegotiatedRelease } from "./types.js";

export type Routed =
  /** The agent has the tool. */
  | { readonly kind: "own" }
  /** Another tool takes the same request. */
  | { readonly kind: "direct"; readonly tool: string }
  /** The application says what to make of it. */
  | { readonly kind: "adapted"; readonly adapter: Adapter }
  | { readonly kind: "refused"; readonly error: LocalError };

interface RoutedTool {
  readonly name: string;
  /** What both sides agreed on. */
  readonly negotiated: Pick<NegotiatedRelease, "release" | "capabilities">;
  /** One's own, newest first. */
  readonly releases: readonly Release[];
  readonly adapters: Readonly<Record<string, Adapter>>;
}

/** Which of a set of tools an agent has, where its capabilities list them; undefined where they say nothing. */
function listedAmong(capabilities: JsonObject | null): readonly unknown[] | undefined {
  const sections = Object.values(capabilities ?? {}).filter(isJsonObject);
  const lists = sections.map((section) => section.lifecycle_tools).filter(Array.isArray);
  return lists.length === 0 ? undefined : lists.flat();
}

/** The first of one's releases that says something of a tool's stand-in. */
const routeOf = (releases: readonly Release[], name: string): ToolRoute | undefined =>
  releases
    .map(({ facts }) => (Object.hasOwn(facts.tools.routes, name) ? facts.tools.routes[name]!.value : undefined))
    .find((route) => route?.fallback !== undefined);

/** How a tool's call reaches the agent. A tool with a stand-in is its agent's only where the agent says so. */
export function routed({ name, negotiated, releases, adapters }: RoutedTool): Routed {
  const { release, capabilities } = negotiated;
  const there = Object.hasOwn(release.tools, name);
  const route = routeOf([release, ...releases], name);
  if (there && (route === undefined || list(listedAmong(capabilities)).includes(name))) return { kind: "own" };
  const adapter = Object.hasOwn(adapters, name) ? adapters[name] : undefined;
  if (adapter !== undefined) return { kind: "adapted", adapter };
  const { mode, tool } = route?.fallback ?? {};
  if (mode === "direct" && tool !== undefined && Object.hasOwn(release.tools, tool)) return { kind: "direct", tool };
  return { kind: "refused", error: lacking(name, { release, there, mode, tool }) };
}

interface Lack {
  readonly release: Release;
  readonly there: boolean;
  readonly mode: string | undefined;
  readonly tool: string | undefined;
}

function lacking(name: string, { release, there, mode, tool }: Lack): LocalError {
  const why = there
    ? `The agent does not say that it has ${name}`
    : `Release ${release.version}, which the agent speaks, has no tool ${name}`;
  const instead = tool === undefined || !Object.hasOwn(release.tools, tool) ? undefined : tool;
  const remedy =
    instead === undefined ? "" : `; call ${instead}, which does more than it, or give an adapter for ${name}`;
  const details = mode === undefined ? {} : { details: { fallback: { mode, ...(instead && { tool: instead }) } } };
  return localError("UNSUPPORTED_FEATURE", `${why}${remedy}`, "correctable", details);
}

/** Why a call comes to nothing: the release that was agreed on has no such tool. */
export const noSuchTool = ({ version }: Pick<Release, "version">, name: string): LocalError =>
  localError("UNSUPPORTED_FEATURE", `Release ${version}, which the agent speaks, has no tool ${name}`, "correctable");
