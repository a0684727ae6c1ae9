/** One protocol release as a value. */
import type { Events } from "./event.js";
import type { ReleaseFacts } from "./facts.js";
import type { ErrorTable, Recovery } from "./recovery.js";
import type { SchemaSource } from "./schema.js";
import type { SpecialismTable } from "./specialism.js";
import type { Tools } from "./tool.js";

/** One protocol release as a value. Two releases may be used side by side: nothing here is global. */
export interface Release<T extends Tools = Tools, E extends Events = Events> {
  /** The protocol's word, from the manifest's `<word>_version`. Wire names derive from it: `wireNames(word)`. */
  readonly word: string;
  readonly version: string;
  /** SHA-256 of the release's content, hex. A version alone does not identify a release: some were republished. */
  readonly digest: string;
  /** When the release was made, ISO 8601; for cache invalidation. */
  readonly generatedAt: string;
  readonly tools: T;
  readonly errors: ErrorTable;
  readonly defaultUnknownRecovery: Recovery;
  readonly specialisms: SpecialismTable;
  /** What the release says about itself; behaviour follows it, and never the version. */
  readonly facts: ReleaseFacts;
  /** Kinds of events whose schemas are in `schemas`. */
  readonly events: E;
  readonly schemas: SchemaSource;
}
