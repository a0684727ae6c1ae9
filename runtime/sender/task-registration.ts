/** What of a task's registration is refused, and what of it can be told anything. */
import { type AnyTool, answersLater } from "../contract/index.js";
import { operationRequired, refusesUnnamed } from "../facts/index.js";
import { A2A_TOKEN_CHARACTERS, type RegistrationRules, refused, registrationFault } from "./registration.js";
import { type SenderTaskDependencies, toolOf } from "./task-events.js";
import type { Refused, TaskChannels, TaskStart } from "./types.js";

/** @throws AdbindError `event_invalid` for a tool the release does not have */
export function faultIn(
  { releases, rules }: SenderTaskDependencies,
  channels: TaskChannels,
  name: string,
  version: string | undefined,
): Refused | undefined {
  const { release } = releases.of(version);
  const refuse = refusesUnnamed(release) ? { ...rules.refuse, withoutOperationId: true } : rules.refuse;
  return channelsFault(channels, toolOf(release, name), { ...rules, refuse, version: release.version });
}

/** Without the push that no event of the release can be sent to: it names no operation, and none is ever invented. */
export function tellable(
  { releases, rules }: SenderTaskDependencies,
  { release, taskId }: TaskStart,
  channels: TaskChannels,
): TaskChannels {
  const { push, ...others } = channels;
  if (push === undefined || push.operation_id !== undefined) return channels;
  if (!operationRequired(releases.of(release).release)) return channels;
  rules.tell(
    { taskId },
    "no webhook is sent of this task: its registration has no operation_id, which the payload requires",
  );
  return others;
}

function channelsFault({ push, a2a }: TaskChannels, tool: AnyTool, rules: RegistrationRules): Refused | undefined {
  if (push !== undefined) {
    const where = "push_notification_config";
    if (rules.refuse.syncOnlyTools && !answersLater(tool)) return refused(`${tool.name} always answers at once`, where);
    if (rules.refuse.withoutOperationId && push.operation_id === undefined) {
      return refused("operation_id is required", `${where}.operation_id`);
    }
    const fault = registrationFault(push, where, tool, rules);
    if (fault !== undefined) return fault;
  }
  if (a2a === undefined) return undefined;
  // It travels in a header.
  if (typeof a2a.token === "string" && !/^[\x21-\x7e]*$/.test(a2a.token)) {
    return refused("a token has characters no header may carry", "configuration.pushNotificationConfig.token");
  }
  return registrationFault(a2a, "configuration.pushNotificationConfig", tool, {
    ...rules,
    tokenCharacters: A2A_TOKEN_CHARACTERS,
  });
}
