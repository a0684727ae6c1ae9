/** The rules a release must keep, as a table; ids are stable and every finding carries the id of its check. */

import { type Finding, type Found, inManifest, type Level, pointer } from "../finding.js";
import type { SchemaFacts } from "../load/facts.js";
import { checkedManifest, type LoadedRelease } from "../load/load.js";
import { exercising, isExempt, type Manifest, type ManifestTool } from "../load/manifest.js";
import { asyncKind, strangeStatuses } from "../model/arms.js";
import { laterClasses, laterLine } from "./later-words.js";
import { refLoops } from "./ref-loops.js";

export interface LintInput {
  release: LoadedRelease;
  manifest: Manifest;
  facts: SchemaFacts;
}

export interface Check {
  id: string;
  level: Level;
  /** What the rule demands. */
  rule: string;
  /** A warning that is told wherever the release is generated from, and not only where rules are asked for. */
  always?: true;
  run(input: LintInput): Found[];
}

const entries = (manifest: Manifest): [string, ManifestTool][] => Object.entries(manifest.tools);

const READ_VERBS = ["get", "list", "check", "validate", "preview", "search"];

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one, index) => one === b[index]);

const specialisms = (manifest: Manifest) => Object.entries(manifest.specialisms);

type Listed = "entry_point_tools" | "exercised_tools";

/** The names in one list of every specialism that are not what they should be, and what to say of each. */
const findingsInList = (
  manifest: Manifest,
  list: Listed,
  isRight: (tool: string, specialism: Manifest["specialisms"][string]) => boolean,
  told: readonly [message: string, remedy: string],
): Found[] =>
  specialisms(manifest).flatMap(([id, specialism]) =>
    specialism[list].flatMap((tool, index) =>
      isRight(tool, specialism) ? [] : [inManifest(pointer("specialisms", id, list, index), ...told, tool)],
    ),
  );

const isTool = (manifest: Manifest, name: string): boolean => Object.hasOwn(manifest.tools, name);

export const lintChecks: readonly Check[] = [
  {
    id: "idempotency-key",
    level: "error",
    rule: "a mutating tool declares idempotency_key, or is marked naturally idempotent",
    run: ({ release, manifest, facts }) =>
      entries(manifest)
        .filter(
          ([name, tool]) =>
            tool.mutating &&
            // The key may stand behind a file that is missing or broken; another rule has spoken of that.
            [...release.reach(name)].every((path) => release.schemas.get(path)?.findings.length === 0) &&
            facts.property(tool.request_schema, "idempotency_key") === undefined &&
            !isExempt(facts.description(tool.request_schema)),
        )
        .map(([name, tool]) => ({
          file: tool.request_schema,
          pointer: "",
          message: "the tool is mutating, yet its request has neither idempotency_key nor the marker",
          detail: name,
          remedy: 'Declare idempotency_key in the request, or say "naturally idempotent" in the schema\'s description.',
        })),
  },
  {
    id: "ref-loop",
    level: "error",
    rule: "following $ref alone ends at a schema",
    run: ({ release }) => refLoops(release),
  },
  {
    id: "async-kind",
    level: "error",
    rule: "the file name of an async response schema ends in a task status, each status once a tool",
    run: ({ manifest }) =>
      entries(manifest).flatMap(([name, tool]) => {
        const seen = new Set<string>();
        return tool.async_response_schemas.flatMap((path, index) => {
          const kind = asyncKind(path);
          const at = pointer("tools", name, "async_response_schemas", index);
          const twice = kind !== undefined && seen.has(kind);
          if (kind !== undefined) seen.add(kind);
          if (kind === undefined) {
            return [
              inManifest(
                at,
                `${JSON.stringify(path)} does not say which status it is for`,
                "End the name in -submitted.json, -working.json or -input-required.json.",
              ),
            ];
          }
          return twice ? [inManifest(at, `a second schema for ${kind}`, "Keep one schema a status.")] : [];
        });
      }),
  },
  {
    id: "entry-point-tool",
    level: "error",
    rule: "every entry point is a tool",
    run: ({ manifest }) =>
      findingsInList(manifest, "entry_point_tools", (tool) => isTool(manifest, tool), [
        "no tool has this name",
        "Add the tool, or take the name out.",
      ]),
  },
  {
    id: "entry-point-exercised",
    level: "error",
    rule: "entry points are among the exercised tools",
    run: ({ manifest }) =>
      findingsInList(manifest, "entry_point_tools", (tool, { exercised_tools }) => exercised_tools.includes(tool), [
        "the entry point is not exercised",
        "Add it to exercised_tools.",
      ]),
  },
  {
    id: "specialism-inverse",
    level: "error",
    rule: "a tool's specialisms are those whose exercised_tools have it",
    run: ({ manifest }) =>
      entries(manifest).flatMap(([name, tool]) => {
        const expected = exercising(manifest, name);
        const stated = [...(tool.specialisms ?? [])].sort();
        if (same(expected, stated)) return [];
        const list = (ids: string[]): string => (ids.length === 0 ? "none" : ids.join(", "));
        return [
          inManifest(
            pointer("tools", name, "specialisms"),
            `the tool lists ${list(stated)}; exercised by ${list(expected)}`,
            "Make the two lists agree.",
          ),
        ];
      }),
  },
  {
    id: "specialism-id",
    level: "error",
    rule: "specialism ids differ by more than punctuation",
    run: ({ manifest }) => {
      const seen = new Map<string, string>();
      return Object.keys(manifest.specialisms).flatMap((id) => {
        const plain = id.replaceAll("-", "_");
        const other = seen.get(plain);
        seen.set(plain, id);
        return other === undefined
          ? []
          : [
              inManifest(
                pointer("specialisms", id),
                `${id} and ${other} are one id in another spelling`,
                "Rename one.",
              ),
            ];
      });
    },
  },
  {
    id: "exercised-tool",
    level: "warning",
    rule: "exercised names are tools",
    run: ({ manifest }) =>
      findingsInList(manifest, "exercised_tools", (tool) => isTool(manifest, tool), [
        "no tool has this name; taken for a step of the harness",
        "Nothing to do, if it is one.",
      ]),
  },
  {
    id: "specialism-entry",
    level: "warning",
    rule: "a specialism has an entry point",
    run: ({ manifest }) =>
      specialisms(manifest)
        .filter(([, { entry_point_tools }]) => entry_point_tools.length === 0)
        .map(([id]) =>
          inManifest(
            pointer("specialisms", id, "entry_point_tools"),
            "no entry point: any agent may claim it",
            "List the tools a claimant must ship.",
          ),
        ),
  },
  {
    id: "read-verb",
    level: "warning",
    rule: "a tool with a read-only verb does not mutate",
    run: ({ manifest }) =>
      entries(manifest)
        .filter(([name, tool]) => tool.mutating && READ_VERBS.includes(name.split("_")[0] ?? ""))
        .map(([name]) =>
          inManifest(
            pointer("tools", name, "mutating"),
            "the tool reads by its name and mutates by its entry",
            "Rename it, or set mutating to false; adbind follows the entry.",
            name,
          ),
        ),
  },
  {
    id: "recovery-class",
    level: "warning",
    rule: "every code, and the default for others, has a class of recovery that callers act on",
    always: true,
    run: ({ manifest }) => laterClasses(manifest),
  },
  {
    id: "later-line",
    level: "warning",
    rule: "the release is of a line whose rules adbind knows",
    always: true,
    run: ({ release }) => laterLine(release),
  },
  {
    id: "task-status",
    level: "warning",
    rule: "every task status of a response is one that tools have an arm for",
    always: true,
    run: ({ manifest, facts }) =>
      entries(manifest).flatMap(([name, tool]) =>
        strangeStatuses(tool.response_schema, facts).map((status) => ({
          file: tool.response_schema,
          pointer: "",
          message: `an answer may have the task status ${JSON.stringify(status)}, which no arm is for`,
          detail: name,
          remedy:
            "Handlers are not asked about it: without data its task is asked again, with data it is taken for completed. Look for a later adbind, which may have an arm for it.",
        })),
      ),
  },
  {
    id: "duplicate-id",
    level: "warning",
    rule: "no two schema files share an $id",
    run: ({ release }) => {
      const byId = new Map<string, string>();
      return [...release.ids].flatMap(([path, id]) => {
        const first = byId.get(id);
        if (first === undefined) byId.set(id, path);
        return first === undefined
          ? []
          : [
              {
                file: path,
                pointer: "/$id",
                message: "another file has this $id too",
                detail: first,
                remedy: "Give the file an id of its own; adbind keys files by path.",
              },
            ];
      });
    },
  },
];

/** Runs every check. Call it on a manifest that its schema accepts. */
export const lint = (release: LoadedRelease, facts: SchemaFacts, levels: readonly Level[]): Finding[] => {
  const input = { release, manifest: checkedManifest(release), facts };
  return lintChecks
    .filter(({ level, always = false }) => always || levels.includes(level))
    .flatMap((check) => check.run(input).map((found) => ({ ...found, level: check.level, rule: check.id })));
};
