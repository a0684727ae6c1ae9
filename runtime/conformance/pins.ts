/** Which release a request is in: what every caller of an agent that lists its releases says. */
import { type JsonObject, wireNames } from "../contract/index.js";
import { compareVersions } from "../contract/version-order.js";
import type { AgentSession } from "./agent/types.js";
import type { SchemaJudge } from "./schemas.js";
import { pinFor } from "./select.js";
import type { KnownAgent, RunState } from "./state.js";

interface AskedRelease {
  readonly word: string;
  readonly version: string;
}

/**
 * A session whose requests say which release they are in. What an agent takes a request for that does not is its own choice, and
 * its answers are judged by one release alone. Requests that the release has closed to the member go without.
 */
export function pinnedSession(
  agent: Pick<KnownAgent, "session" | "capabilities">,
  { word, version }: AskedRelease,
  schemas: Pick<SchemaJudge, "takes">,
): AgentSession {
  const { session, capabilities } = agent;
  const line = pinFor(capabilities, word, version);
  if (line === undefined) return session;
  const field = wireNames(word).version;
  // A request that says it by itself, in the older way too, is about just that.
  const says = (args: JsonObject): boolean => args[field] !== undefined || args[`${word}_major_version`] !== undefined;
  return {
    ...session,
    call(task, args) {
      const leave = says(args) || !schemas.takes(task, field, line);
      return session.call(task, leave ? args : { [field]: line, ...args });
    },
  };
}

/** `3.1-beta.5` is `3.1.0-beta.5`. */
const wholeVersion = (pin: string): string => pin.replace(/^(\d+\.\d+)-/, "$1.0-");

/**
 * The request of a step that wants an answer, said in the release under test. Suites keep steps, and what those pin, as they were
 * written while their release was being made: a prerelease that is older and that the agent does not list would be refused,
 * rightly, and the step is about something else.
 */
export function currentPin(
  args: JsonObject,
  { capabilities }: Pick<KnownAgent, "capabilities">,
  { word, version }: AskedRelease,
): JsonObject {
  const field = wireNames(word).version;
  const pin = args[field];
  const line = pinFor(capabilities, word, version);
  if (line === undefined || typeof pin !== "string" || !pin.includes("-")) return args;
  const bygone = compareVersions(wholeVersion(pin), wholeVersion(version)) < 0;
  return bygone && pinFor(capabilities, word, wholeVersion(pin)) === undefined ? { ...args, [field]: line } : args;
}

/** Sessions with the agents of a run. */
export const sessionsFor =
  ({ release, schemas }: RunState): ((agent: KnownAgent) => AgentSession) =>
  (agent) =>
    pinnedSession(agent, release, schemas);
