/** Which answers a tool may give (docs/protocol/tasks.md#arms). */
import {
  interimStatuses as interim,
  isInterim,
  taskStatuses as statuses,
  terminalStatuses as terminal,
} from "../../runtime/contract/index.js";
import type { SchemaFacts } from "../load/facts.js";
import type { ManifestTool } from "../load/manifest.js";
import type { ArmModel } from "./model.js";

type BareArm = Omit<ArmModel, "shape">;

/** What the published releases type a status as: the seven, and two that only transports have. */
const taskStatusValues: ReadonlySet<string> = new Set([...statuses, "auth-required", "unknown"]);

/** Status an async response schema is for, by the end of its file name. */
export const asyncKind = (path: string): string | undefined =>
  statuses
    .filter((status) => status !== "completed")
    .find((status) => new RegExp(`(^|[-_./])${status}\\.json$`).test(path));

/** Values are statuses of tasks: some that are known, or all of them and what a later release adds. */
const speaksOfTasks = (values: readonly string[]): boolean =>
  values.length > 0 &&
  (values.every((value) => taskStatusValues.has(value)) || statuses.every((status) => values.includes(status)));

/** Statuses of tasks that a response may have, and that no arm is for. */
export const strangeStatuses = (response: string, facts: SchemaFacts): string[] => {
  const listed = facts.statuses(response).demanded.filter(speaksOfTasks).flat();
  return [...new Set(listed)].filter((value) => !taskStatusValues.has(value)).sort();
};

/** The arms of a tool, and the statuses that a payload's own `status` may speak of. */
export function armsOf(tool: ManifestTool, facts: SchemaFacts): { arms: BareArm[]; statuses: string[] } {
  const { demanded, own, branches } = facts.statuses(tool.response_schema);
  const files = new Map(tool.async_response_schemas.map((path) => [asyncKind(path), path]));
  const constants = new Map(
    branches
      .filter(({ values }) => values.length === 1 && isInterim(values[0]))
      .map(({ ref, values }) => [values[0]!, ref]),
  );
  const present = [...interim.filter((status) => files.has(status) || constants.has(status)), ...terminal];
  const arms = present.map((status): BareArm => {
    const carries = status === "completed" || isInterim(status) ? "data" : "failure";
    const schema = status === "completed" ? tool.response_schema : (files.get(status) ?? constants.get(status));
    return { status, schema, carries };
  });

  const hasInterim = present.some((status) => isInterim(status));
  // A tool that answers at once, yet has a task status of its own beside the envelope's, reports on another task.
  const reports = own !== undefined && speaksOfTasks(own) && !hasInterim && own.some((value) => isInterim(value));
  if (reports) return { arms, statuses: [] };
  if (demanded.some(speaksOfTasks)) return { arms, statuses: [...statuses] };
  const sets = [...demanded, ...branches.map(({ values }) => values)];
  const domain = new Set(sets.filter((values) => !speaksOfTasks(values)).flat());
  // Where the schema is silent, an interim arm's own status still means that arm: 3.0 answers `submitted` so, and taking
  // it for a finished task would lose it.
  const silent = present.filter((status) => isInterim(status) && !domain.has(status));
  const named = domain.size === 0 ? sets.flat() : [...constants.keys()];
  return { arms, statuses: statuses.filter((status) => named.includes(status) || silent.includes(status)) };
}
