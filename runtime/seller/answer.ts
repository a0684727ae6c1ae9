/** Judges what a handler answered: refused in development, reported in production. */
import type { JsonObject, TaskStatus } from "../contract.js";
import type { Settings } from "./settings.js";
import type { ServedTool, Spoken } from "./spoken.js";
import { ToolError } from "./tool-error.js";

const MAX_ISSUES = 8;

/**
 * The payload, once it has been looked at.
 * @throws ToolError INVALID_ANSWER in development, where the release's schema refuses it
 */
export function checkedAnswer<Tx>(
  settings: Settings<Tx>,
  { release, validator }: Spoken<Tx>,
  { tool }: ServedTool<Tx>,
  answer: { readonly status: TaskStatus; readonly payload: JsonObject },
): JsonObject {
  const { status, payload } = answer;
  if (!Object.hasOwn(release.tools, tool.name)) return payload;
  const judged = validator.armOf(tool.name, status, payload);
  if (judged.ok) return payload;
  const errors = judged.errors.slice(0, MAX_ISSUES).map(({ pointer, message }) => ({ pointer, message }));
  const report = { tool: tool.name, status, release: release.version, errors };
  settings.logger?.warn(report, "an answer breaks the release's schema");
  settings.onInvalidAnswer?.(report);
  if (settings.mode === "production") return payload;
  const [first] = errors;
  throw new ToolError(
    "INVALID_ANSWER",
    `The handler of ${tool.name} answered what release ${release.version} does not allow when ${status}: ` +
      `${first?.pointer ?? ""} ${first?.message ?? ""}`,
    { recovery: "terminal", details: { issues: errors } },
  );
}
