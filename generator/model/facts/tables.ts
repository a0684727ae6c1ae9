/** What the manifest and the lists of a release say by name: tools, specialisms, copies for MCP, classes of codes. */
import type {
  CanonicalSlot,
  Fact,
  Recovery,
  RecoveryFacts,
  SpecialismRole,
  ToolFacts,
  ToolRoute,
} from "../../../runtime/contract/index.js";
import { isRecovery } from "../../../runtime/contract/recovery.js";
import { atPointer, isMap, type JsonMap, type SchemaJson } from "../../load/walk.js";
import { capabilitiesTool } from "./capabilities.js";
import { below, type FactSource, place, stringsOf } from "./read.js";
import type { ByVersion } from "./versions.js";

const MANIFEST = "manifest.json";

const byName = <T>(rows: [string, T][]): Record<string, T> =>
  Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)));

const rowsOf = (manifest: JsonMap, key: string): [string, JsonMap][] =>
  Object.entries(isMap(manifest[key]) ? manifest[key] : {}).flatMap(([name, row]) => (isMap(row) ? [[name, row]] : []));

/** A tool, or what stood for it before it was one: its request's schema alone. */
function namedTool(source: FactSource, name: string, before: string, called: string): Fact<string> | undefined {
  if (source.tools.some((tool) => tool.name === name)) return { value: name, from: below(MANIFEST, "tools", name) };
  return place(source, before) === undefined ? undefined : { value: called, from: before };
}

export function toolFacts(source: FactSource, version: ByVersion): ToolFacts {
  const own = capabilitiesTool(source)?.name;
  const task = namedTool(source, "get_task_status", "core/tasks-get-request.json", "tasks/get");
  const tasks = namedTool(source, "list_tasks", "core/tasks-list-request.json", "tasks/list");
  return {
    ...(own !== undefined && { capabilities: { value: own, from: below(MANIFEST, "tools", own) } }),
    ...(task !== undefined && { task }),
    ...(tasks !== undefined && { tasks }),
    provisioning: version.fact("provisioning"),
    routes: byName(
      rowsOf(source.manifest, "tools")
        .filter(([name]) => source.tools.some((tool) => tool.name === name))
        .flatMap(([name, row]): [string, Fact<ToolRoute>][] => {
          const route = routeOf(name, row);
          return route === undefined ? [] : [[name, { value: route, from: below(MANIFEST, "tools", name) }]];
        }),
    ),
  };
}

function routeOf(name: string, row: JsonMap): ToolRoute | undefined {
  const { operation_family: family, superseded_by: successors, legacy_fallback: fallback } = row;
  const route: ToolRoute = {
    // A family that is the tool's own name says nothing.
    ...(typeof family === "string" && family !== name && { family }),
    ...(Array.isArray(successors) && { supersededBy: stringsOf(successors) }),
    ...(isMap(fallback) && {
      fallback: { mode: String(fallback.mode), ...(typeof fallback.tool === "string" && { tool: fallback.tool }) },
    }),
  };
  return Object.keys(route).length === 0 ? undefined : route;
}

const SPECIALISMS = "enums/specialism.json";

/** Callers are told by how the release describes them: their own words, or the manifest's title. */
const callers: readonly [SpecialismRole, RegExp][] = [
  ["buyer", /^buyer agent\b/i],
  ["orchestrator", /^orchestrator\b/i],
];

export function roleFacts(source: FactSource): Record<string, Fact<SpecialismRole>> {
  const described = place(source, below(SPECIALISMS, "enumDescriptions"))?.schema ?? {};
  return byName(
    rowsOf(source.manifest, "specialisms").map(([id, row]): [string, Fact<SpecialismRole>] => {
      const wire = id.replaceAll("_", "-");
      const said: [string, unknown][] = [
        [below(SPECIALISMS, "enumDescriptions", wire), described[wire]],
        [below(MANIFEST, "specialisms", id, "title"), row.title],
      ];
      for (const [from, text] of said) {
        const found = callers.find(([, pattern]) => typeof text === "string" && pattern.test(text));
        if (found !== undefined) return [id, { value: found[0], from }];
      }
      const value = row.protocol === "governance" ? "governance" : "seller";
      return [id, { value, from: below(MANIFEST, "specialisms", id, "protocol") }];
    }),
  );
}

const CANONICAL = /^formats\/canonical\/([a-z0-9][a-z0-9_]*)\.json$/;

/** What canonical formats are made of: what a declaration's slots are where it does not say. */
export function formatFacts({ documents }: FactSource): Record<string, Fact<readonly CanonicalSlot[]>> {
  return byName(
    [...documents].flatMap(([path, { schema }]): [string, Fact<readonly CanonicalSlot[]>][] => {
      const kind = CANONICAL.exec(path)?.[1];
      const slots = atPointer(schema as SchemaJson, "/properties/slots/default");
      if (kind === undefined || !Array.isArray(slots)) return [];
      const value = slots.filter(isMap).flatMap(({ asset_group_id: id, asset_type: type, required, min, max }) =>
        typeof id === "string" && typeof type === "string"
          ? [
              {
                asset_group_id: id,
                asset_type: type,
                required: required === true,
                ...(typeof min === "number" && { min }),
                ...(typeof max === "number" && { max }),
              },
            ]
          : [],
      );
      return [[kind, { value, from: below(path, "properties", "slots", "default") }]];
    }),
  );
}

/** One set of tool schemas in the form an MCP server lists. */
export interface Projection {
  readonly protocol: string;
  readonly profile?: string;
  readonly view?: string;
  readonly annotations?: string;
  readonly fields: readonly string[];
  readonly tools: readonly string[];
}

export const projectionFacts = ({ projections }: FactSource): Record<string, Fact<Projection>> =>
  byName(
    projections.map(({ path, manifest }): [string, Fact<Projection>] => {
      const { mcp_protocol_version: protocol, profile, view, annotation_mode: annotations } = manifest;
      return [
        path.replace(/\/manifest\.json$/, ""),
        {
          value: {
            protocol: String(protocol),
            ...(typeof profile === "string" && { profile }),
            ...(typeof view === "string" && { view }),
            ...(typeof annotations === "string" && { annotations }),
            fields: stringsOf(manifest.schema_fields),
            tools: Object.keys(isMap(manifest.tools) ? manifest.tools : {}).sort(),
          },
          from: path,
        },
      ];
    }),
  );

export function recoveryFacts(source: FactSource): RecoveryFacts {
  const counts = { correctable: 0, transient: 0, terminal: 0 };
  const standard = rowsOf(source.manifest, "error_codes");
  const { error_code_policy: policy } = source.manifest;
  const rest = isMap(policy) ? policy.default_unknown_recovery : undefined;
  for (const [, { recovery = rest }] of standard) if (isRecovery(recovery)) counts[recovery]++;
  const known = new Set(standard.map(([code]) => code));
  const rows: [string, Fact<Record<string, Recovery>>][] = [];
  for (const path of source.documents.keys()) {
    const metadata = path.startsWith("enums/") ? place(source, below(path, "enumMetadata"))?.schema : undefined;
    const classes = Object.entries(metadata ?? {}).flatMap(([code, entry]): [string, Recovery][] =>
      isMap(entry) && isRecovery(entry.recovery) ? [[code, entry.recovery]] : [],
    );
    // The manifest has the standard codes already.
    if (classes.length === 0 || classes.every(([code]) => known.has(code))) continue;
    rows.push([
      path.slice("enums/".length, -".json".length),
      { value: byName(classes), from: below(path, "enumMetadata") },
    ]);
  }
  return { errors: { value: counts, from: "manifest.json#/error_codes" }, codes: byName(rows) };
}
