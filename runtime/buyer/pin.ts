/** What a request says of the release it is in, where its release has room for it. */
import { type JsonObject, type Release, shortVersion, wireNames } from "../contract/index.js";

/** How an agent can be told: by the release, by its major version alone, or not at all. */
export type PinBy = "release" | "major" | "nothing";

export const majorOf = ({ version }: Pick<Release, "version">): number => Number.parseInt(version, 10);

/**
 * The members that tell an agent which release a request of a tool is in. Releases that negotiate by release want the major
 * version beside it, for agents that read nothing else; requests that are closed to a member go without it.
 */
export function pinOf({ word, version, facts }: Release, tool: string, by: PinBy): JsonObject {
  if (by === "nothing") return {};
  const { requests, versionEcho } = facts.envelope;
  const refused = Object.hasOwn(requests, tool) ? requests[tool]!.value.refused : [];
  const field = wireNames(word).version;
  const major = `${word}_major_version`;
  const exact = by === "release" && !refused.includes(field);
  return {
    ...(exact && { [field]: shortVersion(version) }),
    ...((!exact || versionEcho.value) && !refused.includes(major) && { [major]: majorOf({ version }) }),
  };
}
