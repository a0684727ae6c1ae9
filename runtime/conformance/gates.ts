/** Whether a storyboard, a phase or a step is about what the agent offers. */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import type { CapabilityPredicate, Storyboard } from "./document.js";
import { includes, isSame } from "./equality.js";
import { fieldAt } from "./paths.js";
import type { Skip } from "./result.js";

export interface GateFacts {
  /** The payload of the agent's capabilities; empty where it gives none. */
  readonly capabilities: JsonObject;
  /** The default of a capability that is not stated. */
  readonly defaultOf: (path: string) => unknown;
}

const parentIsThere = (capabilities: JsonObject, path: string): boolean => {
  const at = path.lastIndexOf(".");
  return at < 0 || isJsonObject(fieldAt(capabilities, path.slice(0, at)));
};

const held = (list: unknown, wanted: unknown): boolean =>
  Array.isArray(list) ? list.some((item) => includes(item, wanted)) : isSame(list, wanted);

const operators = ["present", "equals", "contains", "not_contains"] as const;

/** The first part of a predicate that this runner cannot read: what it does not know it does not take to hold. */
export function unreadable(predicate: CapabilityPredicate): string | undefined {
  if (predicate.all !== undefined) return predicate.all.map(unreadable).find((one) => one !== undefined);
  const known = typeof predicate.path === "string" && operators.some((name) => predicate[name] !== undefined);
  return known ? undefined : `this runner knows no such capability gate: ${JSON.stringify(predicate)}`;
}

/** Why a storyboard or a phase of such a gate is left out; undefined where the gate is open. */
export function capabilitySkip(predicate: CapabilityPredicate, facts: GateFacts): Skip | undefined {
  const odd = unreadable(predicate);
  if (odd !== undefined) return { reason: "requirement_unmet", detail: odd };
  const detail = unmetCapability(predicate, facts);
  return detail === undefined ? undefined : { reason: "not_applicable", detail };
}

/** Why a predicate does not hold; undefined where it does. */
export function unmetCapability(predicate: CapabilityPredicate, facts: GateFacts): string | undefined {
  if (predicate.all !== undefined)
    return predicate.all.map((one) => unmetCapability(one, facts)).find((one) => one !== undefined);
  const { path = "" } = predicate;
  const stated = fieldAt(facts.capabilities, path);
  const shown = stated === undefined ? "it is not declared" : `the agent declares ${JSON.stringify(stated)}`;
  if (predicate.present !== undefined) {
    const there = stated !== undefined && stated !== null;
    if (there === predicate.present) return undefined;
    return `capability ${path} would have to be ${predicate.present ? "declared" : "absent"}: ${shown}`;
  }
  const value = stated ?? (parentIsThere(facts.capabilities, path) ? facts.defaultOf(path) : undefined);
  if ("equals" in predicate)
    return value !== undefined && isSame(value, predicate.equals)
      ? undefined
      : `capability ${path} would have to be ${JSON.stringify(predicate.equals)}: ${shown}`;
  if ("contains" in predicate)
    return value !== undefined && held(value, predicate.contains)
      ? undefined
      : `capability ${path} would have to hold ${JSON.stringify(predicate.contains)}: ${shown}`;
  if ("not_contains" in predicate)
    return value !== undefined && !held(value, predicate.not_contains)
      ? undefined
      : `capability ${path} would have to be declared without ${JSON.stringify(predicate.not_contains)}: ${shown}`;
  return undefined;
}

/** What a run can be asked to have. */
export interface RunFeatures {
  readonly controller: boolean;
  readonly webhookReceiver: boolean;
  /** Route keys that lead to an agent. */
  readonly agents: number;
}

/** Requirements of storyboards, each with whether the run meets it. */
function unmetRequirement(name: string, features: RunFeatures): string | undefined {
  if (name === "controller") return features.controller ? undefined : "controller: the agent has no test controller";
  if (name === "webhook_receiver")
    return features.webhookReceiver ? undefined : "webhook_receiver: the run receives no webhooks";
  if (name === "multi_agent")
    return features.agents >= 2 ? undefined : "multi_agent: name the agents of the other roles with --agent KEY=URL";
  if (name === "real_wire") return undefined;
  return `${name}: this runner has no such thing`;
}

/** Tools that every agent has, or every one under test: that one is offered says nothing of what else is. */
const common = /^(get_\w+_capabilities|comply_test_controller)$/;

/** Of a storyboard's tools those that tell what an agent is about. */
function telling(tools: readonly string[]): readonly string[] {
  const own = tools.filter((tool) => !common.test(tool));
  return own.length > 0 ? own : tools;
}

/** Why a storyboard does not apply to an agent; undefined where it does. */
export function storyboardSkip(
  storyboard: Storyboard,
  facts: GateFacts & { readonly features: RunFeatures; readonly tools: ReadonlySet<string> },
  claimed: boolean,
): Skip | undefined {
  const { requires_capability: one, requires_all_capabilities: all = [] } = storyboard;
  for (const predicate of [...(one === undefined ? [] : [one]), ...all]) {
    const skip = capabilitySkip(predicate, facts);
    if (skip !== undefined) return skip;
  }
  if (storyboard.phases.some(({ steps }) => steps.length === 0)) {
    // Only the vectors of request signing leave their steps to the runner.
    const detail = unmetCapability({ path: "request_signing.supported", equals: true }, facts);
    if (detail !== undefined && !claimed) return { reason: "not_applicable", detail };
  }
  for (const name of storyboard.requires ?? []) {
    const detail = unmetRequirement(name, facts.features);
    if (detail !== undefined) return { reason: "requirement_unmet", detail };
  }
  for (const { tools, rationale } of storyboard.required_any_of_tools ?? [])
    if (!tools.some((tool) => facts.tools.has(tool))) {
      const detail = `missing_required_tool_family: needs ${tools.join(" or ")}${rationale ? ` (${rationale})` : ""}`;
      return { reason: "requirement_unmet", detail };
    }
  const needed = telling(storyboard.required_tools ?? []);
  if (needed.length > 0 && !needed.some((tool) => facts.tools.has(tool)))
    return {
      reason: claimed ? "missing_tool" : "not_applicable",
      detail: `the agent would have to offer ${needed.length === 1 ? needed[0] : `one of ${needed.join(", ")}`}`,
    };
  return undefined;
}

/** Operand of a `skip_if`: a path of the kit or of the context, or a literal. */
function operand(text: string, roots: Readonly<Record<string, unknown>>): unknown {
  const trimmed = text.trim();
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(trimmed);
  if (quoted !== null) return quoted[1] ?? quoted[2];
  return fieldAt(roots, trimmed);
}

function term(text: string, roots: Readonly<Record<string, unknown>>): boolean {
  const compared = /^(.+?)\s*(==|!=)\s*(.+)$/.exec(text.trim());
  if (compared !== null) {
    const same = isSame(operand(compared[1]!, roots), operand(compared[3]!, roots));
    return compared[2] === "==" ? same : !same;
  }
  const negated = text.trim().startsWith("!");
  const value = operand(text.trim().replace(/^!\s*/, ""), roots);
  return negated ? !value : Boolean(value);
}

/** Whether a phase's `skip_if` says that it is left out. */
export const skipIf = (expression: string, kit: unknown, context: ReadonlyMap<string, unknown>): boolean =>
  expression.split("||").some((one) => term(one, { test_kit: kit, context: Object.fromEntries(context) }));
