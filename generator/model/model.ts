/** The IR: a release as the emitter sees it. Every list is sorted by code point; nothing here knows JSON schema. */

export type Idempotency = "required" | "optional" | "exempt" | "none";

export interface ArmModel {
  /** Task status. */
  status: string;
  /** Schema of the arm's data, `<path>` or `<path>#<pointer>`; undefined where the release gives none. */
  schema: string | undefined;
  /** What the arm carries: data of a type of the release, or the contract's `Failure`. */
  carries: "data" | "failure";
}

export interface ToolModel {
  /** As on the wire. */
  name: string;
  /** `createMediaBuy` */
  ident: string;
  /** `CreateMediaBuy` */
  pascal: string;
  protocol: string;
  mutating: boolean;
  idempotency: Idempotency;
  request: string;
  response: string;
  arms: ArmModel[];
  /** Task statuses a payload's own `status` may speak of. */
  statuses: string[];
  failureFields: string[];
  specialisms: string[];
  addedIn: string | undefined;
  deprecatedIn: string | undefined;
  /** First sentence of the request schema's description. */
  summary: string;
  /** Fields of the manifest entry that service.md does not list. */
  extensions: Record<string, unknown>;
}

export interface CodeModel {
  code: string;
  recovery: string;
  description: string;
  suggestion: string;
  addedIn: string | undefined;
}

export interface SpecialismModel {
  id: string;
  protocol: string;
  title: string | undefined;
  entryPoints: string[];
  exercised: string[];
  harness: string[];
}

/** A schema document, opaque here: the types room and the schemas room read it. */
export interface DocumentModel {
  path: string;
  /** Name of the type it declares. */
  typeName: string;
  /** File of the type, without extension. */
  unit: string;
  /** Normalised: refs are `/<path>#<pointer>`, no ids, keys sorted. */
  schema: unknown;
}

export interface Model {
  word: string;
  version: string;
  digest: string;
  generatedAt: string;
  defaultUnknownRecovery: string;
  policyNote: string;
  tools: ToolModel[];
  codes: CodeModel[];
  specialisms: SpecialismModel[];
  documents: DocumentModel[];
  /** Top-level fields of the manifest that service.md does not list. */
  extensions: Record<string, unknown>;
  /** Tools that `partial` left out, with the reasons. */
  leftOut: { tool: string; because: string[] }[];
}
