/**
 * The IR: a release as the emitter sees it. Every list is sorted by code point; nothing here knows JSON Schema, nor the
 * language that is emitted.
 */
import type { Idempotency, ReleaseFacts } from "../../runtime/contract/index.js";
import type { Resolve, Shape } from "./shape.js";

export interface ArmModel {
  /** Task status. */
  status: string;
  /** Schema of the arm's data, `<path>` or `<path>#<pointer>`; undefined where the release gives none. */
  schema: string | undefined;
  /** What the arm carries: data of a type of the release, or the contract's `Failure`. */
  carries: "data" | "failure";
  /**
   * Shape of the data. Of `completed` it is the response less the branches that other arms carry; `schema` is whole
   * even so, since validators compile what the release has.
   */
  shape: Shape | undefined;
}

export interface ToolModel {
  /** As on the wire. */
  name: string;
  protocol: string;
  mutating: boolean;
  idempotency: Idempotency;
  request: string;
  response: string;
  arms: ArmModel[];
  /** Task statuses a payload's own `status` may speak of. */
  statuses: string[];
  /** Fields that a branch demanding `errors` may have beside them; undefined where no branch demands them. */
  failureFields: string[] | undefined;
  specialisms: string[];
  addedIn: string | undefined;
  deprecatedIn: string | undefined;
  /** The manifest's own, else the first sentence of the request schema's description. */
  summary: string;
  /** Fields of the manifest entry that the tables of docs/protocol/manifest.md do not list. */
  extensions: Record<string, unknown>;
}

export interface CodeModel {
  code: string;
  recovery: string;
  /** As the release has it, whole. */
  description: string;
  suggestion: string;
  addedIn: string | undefined;
}

export interface SpecialismModel {
  id: string;
  protocol: string;
  title: string | undefined;
  /** Who takes it on, where that is somebody who calls. */
  role: "buyer" | "orchestrator" | undefined;
  entryPoints: string[];
  exercised: string[];
  harness: string[];
}

/** A schema document. */
export interface DocumentModel {
  path: string;
  shape: Shape;
  /** The document as validators compile it: JSON text of the schema, references as URIs, annotations dropped. */
  validation: string;
  /** SHA-256 of the document as the release has it, hex; what is made of it changes with it. */
  digest: string;
}

/** An event that a seller sends unasked. */
export interface EventModel {
  kind: string;
  /** Schema of the body, or of the result in it. */
  schema: string;
}

export interface Model {
  word: string;
  version: string;
  digest: string;
  generatedAt: string;
  defaultUnknownRecovery: string;
  policyNote: string;
  tools: ToolModel[];
  /** Names of all tools of the release, those among them that a part, or `partial`, left out. */
  toolNames: readonly string[];
  codes: CodeModel[];
  specialisms: SpecialismModel[];
  documents: DocumentModel[];
  /** Events whose schemas are among the documents. */
  events: EventModel[];
  /** Shapes of the documents, and of the places inside them that something refers to. */
  resolve: Resolve;
  /** Those places, `<path>#<pointer>`. */
  places: string[];
  /** Top-level fields of the manifest that the tables of docs/protocol/manifest.md do not list. */
  extensions: Record<string, unknown>;
  /** What the release says about itself. */
  facts: ReleaseFacts;
  /** Tools that `partial` left out, with the reasons. */
  leftOut: { tool: string; because: string[] }[];
}
