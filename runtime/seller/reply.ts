/** A handler's reply, on its way to become an answer. */
import {
  type AnyTool,
  isJsonObject,
  isTaskStatus,
  isTerminal,
  type JsonObject,
  type Release,
  type TaskStatus,
} from "../contract/index.js";
import type { ServedRelease } from "./served-releases.js";

/** The task's status where a tool's answer is to say it: not where its `status` is a state of its domain, or closed to any. */
export function statusMember(
  { domainStatus, release }: Pick<ServedRelease<never>, "domainStatus" | "release">,
  tool: string,
  status: TaskStatus,
): JsonObject {
  if (!isTerminal(status)) return { status };
  const { status: typed, answers } = release.facts.envelope;
  const fields = Object.hasOwn(answers, tool) ? answers[tool]?.value : undefined;
  if (fields?.refused.includes("status")) return {};
  const demanded = typed.value === "task" && (fields === undefined || fields.required.includes("status"));
  return demanded || !domainStatus.has(tool) ? { status } : {};
}

/** Members that belong to a call, less those that the release closes the tool's answers to. */
export function openMembers({ facts }: Pick<Release, "facts">, tool: string, members: JsonObject): JsonObject {
  const { answers } = facts.envelope;
  const refused = Object.hasOwn(answers, tool) ? answers[tool]!.value.refused : [];
  return Object.fromEntries(Object.entries(members).filter(([name]) => !refused.includes(name)));
}

/** The release that an answer is in: always where the release has answers say so, and else where the caller has named one. */
export const versionMember = (
  { names, release, version }: Pick<ServedRelease<never>, "names" | "release" | "version">,
  args: JsonObject,
): JsonObject =>
  release.facts.envelope.versionEcho.value || typeof args[names.version] === "string"
    ? { [names.version]: version }
    : {};

/** Why JSON cannot hold a value, as a BigInt or an object that is inside itself; undefined where it can. */
export function unheldReason(value: unknown): string | undefined {
  try {
    JSON.stringify(value);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * A handler's reply: typed, and still checked, since not every application compiles with types.
 * @throws TypeError for what is no reply of the tool's, or cannot be sent: before anything of the call is kept
 */
export function checkReply(reply: unknown, tool: AnyTool): { status: TaskStatus; data: JsonObject } {
  if (
    !isJsonObject(reply) ||
    !isTaskStatus(reply.status) ||
    !Object.hasOwn(tool.arms, reply.status) ||
    !isJsonObject(reply.data)
  ) {
    throw new TypeError(
      `the handler of ${tool.name} must answer {status, data} with status one of ${Object.keys(tool.arms).join(", ")}`,
    );
  }
  const reason = unheldReason(reply.data);
  if (reason !== undefined)
    throw new TypeError(`the handler of ${tool.name} answered what JSON cannot hold: ${reason}`);
  return { status: reply.status, data: reply.data };
}
