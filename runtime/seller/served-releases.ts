/** The releases a seller speaks, and which of them a call is answered in. */
import {
  type AnyTool,
  type JsonObject,
  type Release,
  shortVersion,
  type WireNames,
  wireNames,
} from "../contract/index.js";
import type { AnyValidator } from "../validate/types.js";
import { domainStatusReader } from "./domain-status.js";
import { ToolError } from "./tool-error.js";
import type { SellerHandler } from "./types.js";

/** A tool as one release has it, with what answers it. */
export interface ServedTool<Tx> {
  /** Name it is listed under. */
  readonly name: string;
  readonly tool: AnyTool;
  readonly handle: SellerHandler<AnyTool, Tx>;
  /** Answered from what the seller knows itself. */
  readonly builtIn: boolean;
  /** Answered without credentials: how a caller learns which it needs. */
  readonly open: boolean;
}

/** One release a seller speaks. */
export interface ServedRelease<Tx> {
  readonly release: Release;
  readonly names: WireNames;
  readonly validator: AnyValidator;
  readonly major: number;
  /** `MAJOR.MINOR`, with a pre-release part where there is one. */
  readonly version: string;
  /** Tools by every name they are called by. */
  readonly tools: ReadonlyMap<string, ServedTool<Tx>>;
  /** Tools whose answers have a `status` that is not the task's. */
  readonly domainStatus: ReadonlySet<string>;
}

export async function createServedRelease<Tx>(
  release: Release,
  tools: ReadonlyMap<string, ServedTool<Tx>>,
  validator: AnyValidator,
): Promise<ServedRelease<Tx>> {
  const hasDomainStatus = domainStatusReader(await release.schemas());
  const served = [...new Set([...tools.values()].map(({ tool }) => tool))];
  const arm = (tool: AnyTool) => (tool.arms as { completed?: string | null }).completed ?? "";
  return {
    domainStatus: new Set(served.filter((tool) => hasDomainStatus(arm(tool))).map(({ name }) => name)),
    release,
    names: wireNames(release.word),
    validator,
    major: Number.parseInt(release.version, 10),
    version: shortVersion(release.version),
    tools,
  };
}

/** A version as it is negotiated; undefined for what is none. Patches are let pass, and count for nothing. */
function linePinned(
  pin: string,
): { readonly major: number; readonly minor: number; readonly exact: string } | undefined {
  const exact = shortVersion(pin);
  const [, major, minor] = /^(\d+)\.(\d+)(-[\w.-]+)?$/.exec(exact) ?? [];
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor), exact };
}

/** The newest release of a major version that is no newer than what was asked for; pre-releases are met exactly or not at all. */
const below = <Tx>(servedReleases: readonly ServedRelease<Tx>[], { major, minor }: { major: number; minor: number }) =>
  servedReleases.find((one) => {
    const line = linePinned(one.version);
    return line !== undefined && !one.version.includes("-") && line.major === major && line.minor <= minor;
  });

/** The newest release of those that are stable; of pre-releases alone, the newest of them. Undefined of none. */
export const newestStable = <Tx>(servedReleases: readonly ServedRelease<Tx>[]): ServedRelease<Tx> | undefined =>
  servedReleases.find(({ version }) => !version.includes("-")) ?? servedReleases[0];

/**
 * The release a request is answered in: the one it pins, else the newest before it of the same major version, which the answer
 * says. Who names a major version alone can say no more: he is answered in the newest release of it that negotiates by nothing else,
 * else in the newest of it. Without either, in the newest. Who does not pin a pre-release gets none where there is a stable one.
 * @param servedReleases newest first
 * @throws ToolError VERSION_UNSUPPORTED where there is none, or two members of the request ask for different ones
 */
export function negotiate<Tx>(servedReleases: readonly ServedRelease<Tx>[], request: JsonObject): ServedRelease<Tx> {
  const [newest] = servedReleases as [ServedRelease<Tx>];
  const { word } = newest.release;
  const [field, majorField] = [newest.names.version, `${word}_major_version`];
  const { [field]: pin, [majorField]: major } = request;
  if (typeof pin === "string") {
    const line = linePinned(pin);
    if (line === undefined) throw unsupported(servedReleases, field, pin);
    if (typeof major === "number" && major !== line.major)
      throw unsupported(servedReleases, field, pin, `${field} and ${majorField} ask for two versions`);
    const served =
      servedReleases.find(({ version }) => version === line.exact) ??
      (pin.includes("-") ? undefined : below(servedReleases, line));
    if (served !== undefined) return served;
    throw unsupported(servedReleases, field, pin);
  }
  if (typeof major !== "number") return newestStable(servedReleases) ?? newest;
  const ofMajor = servedReleases.filter((one) => one.major === major);
  const found = ofMajor.find(({ release }) => !release.facts.envelope.versionEcho.value) ?? newestStable(ofMajor);
  if (found !== undefined) return found;
  throw unsupported(servedReleases, majorField, major);
}

const unsupported = (
  servedReleases: readonly ServedRelease<never>[],
  field: string,
  asked: string | number,
  why = `Version ${String(asked).slice(0, 32)} is not served here`,
): ToolError => {
  const versions = servedReleases.map(({ version }) => version);
  return new ToolError("VERSION_UNSUPPORTED", `${why}; served: ${versions.join(", ")}.`, {
    field,
    details: { supported_versions: versions, supported_majors: [...new Set(servedReleases.map(({ major }) => major))] },
  });
};
