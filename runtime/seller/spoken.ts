/** The releases a seller speaks, and which of them a call is answered in. */
import { type AnyTool, type JsonObject, type Release, type WireNames, wireNames } from "../contract/index.js";
import type { AnyValidator } from "../validate/types.js";
import { answerReader } from "./domain-status.js";
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
export interface Spoken<Tx> {
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
  /** What may stand in answers of tools whose schema takes no other names: an envelope has no place there. */
  readonly members: ReadonlyMap<string, ReadonlySet<string>>;
}

const numeric = (release: Release): number[] => release.version.split(/[.-]/).map(Number);

/** Newest first; a pre-release is older than its release. */
export const byAge = (a: Release, b: Release): number => {
  const [x, y] = [numeric(a), numeric(b)];
  for (let at = 0; at < 3; at++) if (x[at] !== y[at]) return y[at]! - x[at]!;
  return Number(a.version.includes("-")) - Number(b.version.includes("-"));
};

/** `3.1.0` as `3.1`, `3.2.0-beta.1` as `3.2-beta.1`. */
export const shortVersion = (version: string): string => version.replace(/^(\d+)\.(\d+)\.\d+/, "$1.$2");

export async function speak<Tx>(
  release: Release,
  tools: ReadonlyMap<string, ServedTool<Tx>>,
  validator: AnyValidator,
): Promise<Spoken<Tx>> {
  const reader = answerReader(await release.schemas());
  const served = [...new Set([...tools.values()].map(({ tool }) => tool))];
  const arm = (tool: AnyTool) => (tool.arms as { completed?: string | null }).completed ?? "";
  const closed = served.flatMap((tool): [string, ReadonlySet<string>][] => {
    const members = reader.members(arm(tool));
    return members === undefined ? [] : [[tool.name, members]];
  });
  return {
    domainStatus: new Set(served.filter((tool) => reader.hasDomainStatus(arm(tool))).map(({ name }) => name)),
    members: new Map(closed),
    release,
    names: wireNames(release.word),
    validator,
    major: Number.parseInt(release.version, 10),
    version: shortVersion(release.version),
    tools,
  };
}

/**
 * The release a request is answered in: the one it pins, else the newest of its major version, else the newest.
 * @param spoken newest first
 * @throws ToolError VERSION_UNSUPPORTED
 */
export function negotiate<Tx>(spoken: readonly Spoken<Tx>[], request: JsonObject): Spoken<Tx> {
  const [newest] = spoken as [Spoken<Tx>];
  const { word } = newest.release;
  const pin = request[newest.names.version];
  if (typeof pin === "string") {
    const wanted = shortVersion(pin);
    const found = spoken.find(({ version }) => version === wanted);
    if (found !== undefined) return found;
    throw unsupported(spoken, newest.names.version, pin);
  }
  const major = request[`${word}_major_version`];
  if (typeof major !== "number") return newest;
  const found = spoken.find((one) => one.major === major);
  if (found !== undefined) return found;
  throw unsupported(spoken, `${word}_major_version`, major);
}

const unsupported = (spoken: readonly Spoken<never>[], field: string, asked: string | number): ToolError => {
  const versions = spoken.map(({ version }) => version);
  return new ToolError(
    "VERSION_UNSUPPORTED",
    `Version ${String(asked).slice(0, 32)} is not spoken here; spoken: ${versions.join(", ")}.`,
    {
      field,
      details: { supported_versions: versions, supported_majors: [...new Set(spoken.map(({ major }) => major))] },
    },
  );
};
