/**
 * What no file of a release tells: one row each, from which version on it holds. A release newer than the last line here is
 * spoken as that line is, and says so.
 */
import type { Fact } from "../../../runtime/contract/index.js";

/** The newest line that the rows below know. */
export const NEWEST_KNOWN = "3.3";

interface Row<T> {
  /** For people: what is decided. */
  readonly decides: string;
  /** Values by the first version that has them, oldest first; a version that ends in `-` has its pre-releases too. */
  readonly since: readonly (readonly [version: string, value: T])[];
}

const row = <T>(decides: string, ...since: (readonly [string, T])[]): Row<T> => ({ decides, since });

const versionRows = {
  /** What a verifier calls a raw non-ASCII host; the vectors of one profile changed their mind. */
  nonAsciiHost: row<"header_malformed" | "target_uri_malformed">(
    "the code for a host in other letters than ASCII",
    ["0", "header_malformed"],
    ["3.2.4", "target_uri_malformed"],
  ),
  /** Requests over A2A resolve to exactly one operation: an erratum of 3.2.3. */
  operations: row<"named" | "one">("whether a body must resolve to one operation", ["0", "named"], ["3.2.3", "one"]),
  /** Purposes of keys that webhooks may be signed with: one for everything a party signs came with 3.1. */
  webhookKeyUses: row<readonly string[]>(
    "which keys sign webhooks",
    ["0", ["webhook-signing"]],
    ["3.1-", ["request-signing", "webhook-signing"]],
  ),
  /** Versions that put an endpoint on the 3.2 signing profile; from 3.2 on a pattern in the schema says the same. */
  newer: row<string>("which versions have the 3.2 signing profile", [
    "0",
    "^(?:3\\.(?:[2-9]|[1-9][0-9]+)|(?:[4-9]|[1-9][0-9]+)\\.\\d+)(?:-[a-zA-Z0-9.-]+)?$",
  ]),
  /** The keys of webhooks are found by the brand file that capabilities name, and no other way. */
  webhookKeys: row<"host" | "capabilities">(
    "where the keys of webhooks are looked for",
    ["0", "host"],
    ["3.3-", "capabilities"],
  ),
  /** The schema of 3.2 still says bytes; its texts and vectors compare canonical forms. */
  urlMatch: row<"bytes" | "canonical">("how agent URLs are compared", ["0", "bytes"], ["3.2-", "canonical"]),
  /** Origins of keys advise in 3.0, bind requests from 3.1 on, and then webhooks and pinned keys as well. */
  keyOrigins: row<"advised" | "requests" | "everybody">(
    "whose key origins bind",
    ["0", "advised"],
    ["3.1-", "requests"],
    ["3.3-", "everybody"],
  ),
  /** A pin holds a key by its RFC 7638 thumbprint. */
  pin: row<"kid" | "thumbprint">("what a pin holds a key by", ["0", "kid"], ["3.3-", "thumbprint"]),
  /** Entries of one agent that agree on what it is and on its keys are one, though one list has both. */
  twice: row<"refused" | "agreeing">(
    "what becomes of an agent that a brand file lists twice",
    ["0", "refused"],
    ["3.3-", "agreeing"],
  ),
  /** Bytes of the largest brand file: 256 KiB, then 2 MiB. */
  brandBytes: row<number>("the largest brand file", ["0", 262_144], ["3.3-", 2_097_152]),
  /** Schemas never require `recovery`; the text does. */
  recovery: row<"optional" | "advised" | "required">(
    "whether errors carry their recovery",
    ["0", "optional"],
    ["3.1-", "advised"],
    ["3.2-", "required"],
  ),
  /** Schemas keep `retry_after` a number; the text makes it whole seconds. */
  retryAfter: row<"number" | "integer">("whether retry_after is whole seconds", ["0", "number"], ["3.2-", "integer"]),
  /** Who only looks around has no account opened for it. */
  provisioning: row<"naming" | "committing">(
    "which calls open the account they name",
    ["0", "naming"],
    ["3.3-", "committing"],
  ),
  /** Servers ignore `context_id` over MCP. */
  contextId: row<"threaded" | "ignored">("what context_id does over MCP", ["0", "threaded"], ["3.2-", "ignored"]),
} as const satisfies Record<string, Row<unknown>>;

type VersionRow = keyof typeof versionRows;

type ValueOf<K extends VersionRow> = (typeof versionRows)[K] extends Row<infer T> ? T : never;

interface Parsed {
  readonly numbers: readonly number[];
  readonly pre: boolean;
}

const parsed = (version: string): Parsed => {
  const [core = "", ...pre] = version.split("-");
  return { numbers: [0, 1, 2].map((at) => Number(core.split(".")[at] ?? 0) || 0), pre: pre.length > 0 };
};

/** Is a release at or after the version a row names? A pre-release is before its release, unless the row takes those in. */
function reached(version: string, since: string): boolean {
  const [own, from] = [parsed(version), parsed(since.replace(/-$/, ""))];
  for (const at of [0, 1, 2]) {
    if (own.numbers[at] !== from.numbers[at]) return own.numbers[at]! > from.numbers[at]!;
  }
  return !own.pre || since.endsWith("-");
}

/** Is a release of a line after the newest that the rows know? */
export function isLaterLine(version: string): boolean {
  const [own, known] = [parsed(version).numbers, parsed(NEWEST_KNOWN).numbers];
  return own[0]! > known[0]! || (own[0] === known[0] && own[1]! > known[1]!);
}

/** What the rows say of one release. */
export class ByVersion {
  /** What was assumed of a release that the rows do not know. */
  readonly assumed: string[] = [];
  private readonly unknown: boolean;

  constructor(private readonly version: string) {
    this.unknown = isLaterLine(version);
  }

  fact<K extends VersionRow>(name: K): Fact<ValueOf<K>> {
    const { decides, since } = versionRows[name] as Row<ValueOf<K>>;
    const value = since.findLast(([from]) => reached(this.version, from))![1];
    if (this.unknown) this.assumed.push(`${decides}: as ${NEWEST_KNOWN} has it, ${JSON.stringify(value)}`);
    return { value, from: "version" };
  }
}
