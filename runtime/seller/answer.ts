/** Judges what a handler answered: refused in development, reported in production. */
import { type AnyTool, isJsonObject, type JsonObject, type TaskStatus } from "../contract/index.js";
import { safely } from "../listener.js";
import { project } from "./projection.js";
import type { ServedRelease, ServedTool } from "./served-releases.js";
import type { SellerSettings } from "./settings.js";
import { ToolError } from "./tool-error.js";

const MAX_ISSUES = 8;

/**
 * The payload, once it has been looked at.
 * @throws ToolError INVALID_ANSWER in development, where the release's schema refuses it
 */
export function checkedAnswer<Tx>(
  settings: SellerSettings<Tx>,
  servedRelease: ServedRelease<Tx>,
  { tool }: ServedTool<Tx>,
  answer: { readonly status: TaskStatus; readonly payload: JsonObject },
): JsonObject {
  const { release, validator } = servedRelease;
  const { status } = answer;
  if (!Object.hasOwn(release.tools, tool.name)) return answer.payload;
  const payload = inCallersRelease(settings, servedRelease, tool, answer);
  const judged = validator.arm(tool.name, status, payload);
  if (judged.ok) return payload;
  const errors = judged.errors.slice(0, MAX_ISSUES).map(({ pointer, message }) => ({ pointer, message }));
  const report = { tool: tool.name, status, release: release.version, errors };
  settings.logger?.warn(report, "an answer breaks the release's schema");
  safely(() => settings.onInvalidAnswer?.(report));
  if (settings.mode === "production") return payload;
  const [first] = errors;
  throw new ToolError(
    "INVALID_ANSWER",
    `The handler of ${tool.name} answered what release ${release.version} does not allow when ${status}: ` +
      `${first?.pointer ?? ""} ${first?.message ?? ""}`,
    { recovery: "terminal", details: { issues: errors } },
  );
}

/**
 * Whether a rejection is an answer that the release has among those of the tool: the seller has understood, and declines. What
 * names errors, or nothing at all, has failed.
 */
export function isDeclined(
  { validator }: Pick<ServedRelease<never>, "validator">,
  { name }: AnyTool,
  data: JsonObject,
  envelope: JsonObject,
): boolean {
  if (data.errors !== undefined || Object.keys(data).length === 0) return false;
  return validator.arm(name, "completed", { status: "rejected", ...data, ...envelope }).ok;
}

/** Where an answer says what its caller's release has no place for: vendors' own members, which every release leaves room for. */
const OWN = "adbind";

/** An answer as its caller's release has it; what was left out is told to the caller, the log and the meter. */
export function inCallersRelease<Tx>(
  { logger, metrics, written }: SellerSettings<Tx>,
  servedRelease: ServedRelease<Tx>,
  tool: AnyTool,
  answer: { readonly status: TaskStatus; readonly payload: JsonObject },
): JsonObject {
  const { release, validator, version } = servedRelease;
  if (release.version === written.version) return answer.payload;
  const { payload, left } = project(servedRelease, tool, answer);
  if (Object.keys(left).length === 0) return payload;
  const { name } = tool;
  logger?.info({ tool: name, release: release.version, left }, "an answer has less in it in its caller's release");
  metrics.leftOut({ tool: name, release: version }, left);
  const { ext } = payload;
  const told = { ...payload, ext: { ...(isJsonObject(ext) && ext), [OWN]: { left_out: left } } };
  return validator.arm(name, answer.status, told).ok ? told : payload;
}
