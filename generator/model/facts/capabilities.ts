/** What the schema of a release's capabilities shows: how requests are signed, and how keys are found. */
import { type DiscoveryFacts, type Fact, type SigningFacts, wireNames } from "../../../runtime/contract/index.js";
import { isMap, type JsonMap, walk } from "../../load/walk.js";
import { below, type FactSource, listOf, type Placed, place, propertyAt, valuesOf } from "./read.js";
import type { ByVersion } from "./versions.js";

/** The tool by which an agent tells of itself. */
export const capabilitiesTool = ({ tools, word }: FactSource) =>
  tools.find(({ name }) => name === wireNames(word).capabilitiesTool || name === "get_agent_capabilities");

/** The root of the capabilities' schema; a path that is not there where the release has no such tool. */
const rootOf = (source: FactSource): string => capabilitiesTool(source)?.response ?? "";

/** The demand that signed requests cover a body, and the pattern of the versions it is made of. */
interface Demand {
  readonly at: string;
  readonly pattern: { readonly value: string; readonly at: string } | undefined;
}

/** Entries of the root's `allOf` move from release to release: the demand is found by what it says. */
function bodyDemand(source: FactSource): Demand | undefined {
  const root = rootOf(source);
  const entries = listOf(place(source, root)?.schema.allOf);
  for (const [index, entry] of entries.entries()) {
    if (!isMap(entry) || !isMap(entry.then)) continue;
    const at = below(
      root,
      "allOf",
      index,
      "then",
      "properties",
      "request_signing",
      "properties",
      "covers_content_digest",
    );
    const held = place(source, at);
    if (held === undefined || valuesOf(source, held).join() !== "required") continue;
    return { at: below(at, "const"), pattern: patternOf(entry.if, below(root, "allOf", index, "if")) };
  }
  return undefined;
}

/** The first pattern below a condition: it is of the versions that the condition speaks of. */
function patternOf(condition: JsonMap[string] | undefined, ref: string): Demand["pattern"] {
  if (!isMap(condition)) return undefined;
  let found: string | undefined;
  walk(condition, ({ pattern }) => {
    if (typeof pattern === "string") found ??= pattern;
  });
  return found === undefined ? undefined : { value: found, at: ref };
}

export function signingFacts(source: FactSource, version: ByVersion): SigningFacts {
  const root = rootOf(source);
  const demand = bodyDemand(source);
  const declared = propertyAt(source, root, ["request_signing", "covers_content_digest"]);
  const from = demand?.at ?? declared?.ref ?? "version";
  const methods = propertyAt(source, root, ["request_signing", "protocol_methods_required_for"]);
  const horizon = propertyAt(source, root, ["webhook_signing", "delivery_retry_horizon_seconds"]);
  const sources = propertyAt(source, root, ["request_signing", "operation_sources"]);
  return {
    profile: { value: demand === undefined ? "3.1" : "3.2", from },
    digest: { value: demand === undefined ? "declared" : "required", from },
    newer:
      demand?.pattern === undefined ? version.fact("newer") : { value: demand.pattern.value, from: demand.pattern.at },
    nonAsciiHost: version.fact("nonAsciiHost"),
    operations: sources === undefined ? version.fact("operations") : { value: "one", from: sources.ref },
    methods: shown(methods, root, ["request_signing"], source),
    webhookKeyUses: version.fact("webhookKeyUses"),
    retryHorizon: shown(horizon, root, ["webhook_signing"], source),
  };
}

/** Whether a property is there; where it is not, the object that lacks it shows that. */
function shown(found: Placed | undefined, root: string, holder: readonly string[], source: FactSource): Fact<boolean> {
  if (found !== undefined) return { value: true, from: found.ref };
  return { value: false, from: propertyAt(source, root, holder)?.ref ?? (root || "manifest.json#/tools") };
}

export function discoveryFacts(source: FactSource, version: ByVersion): DiscoveryFacts {
  const root = rootOf(source);
  const named = propertyAt(source, root, ["identity", "brand_json_url"]);
  const origins = propertyAt(source, root, ["identity", "key_origins"]);
  const without = root || "manifest.json#/tools";
  return {
    requests: named === undefined ? { value: "onboarding", from: without } : { value: "capabilities", from: named.ref },
    webhooks: version.fact("webhookKeys"),
    urlMatch: urlMatch(source, named, version),
    keyOrigins: origins === undefined ? { value: "nobody", from: without } : version.fact("keyOrigins"),
    pin: version.fact("pin"),
    twice: version.fact("twice"),
    brandBytes: version.fact("brandBytes"),
  };
}

/** The schema's word, but for the line whose vectors say otherwise: there the vectors win. */
function urlMatch(source: FactSource, named: Placed | undefined, version: ByVersion): DiscoveryFacts["urlMatch"] {
  const rules = named === undefined ? undefined : annotation(named.schema, source.word);
  const said = isMap(rules?.held.verifier_constraints) ? rules.held.verifier_constraints.agent_url_match : undefined;
  const byNumber = version.fact("urlMatch");
  if (rules === undefined || named === undefined) return byNumber;
  const from = below(named.ref, rules.key, "verifier_constraints", "agent_url_match");
  if (said === "canonical") return { value: "canonical", from };
  return said === "byte_equal" && byNumber.value === "bytes" ? { value: "bytes", from } : byNumber;
}

/** The annotation that says how values are to be checked; its name carries the protocol's word. */
function annotation(schema: JsonMap, word: string): { key: string; held: JsonMap } | undefined {
  const key = `x-${word}-validation`;
  const held = schema[key];
  return isMap(held) ? { key, held } : undefined;
}
