/** One tool of a release: what it is called by, and what it asks for and answers. */
import type { SchemaRef } from "./schema.js";
import { interimStatuses, type TaskStatus } from "./status.js";

/** The answers of a tool keyed by status, as the generator writes them. */
export type AnyArms = { [S in TaskStatus]?: unknown };

/** Whether a tool's request has a key: `required`, `optional`, `exempt` (it mutates, and may be repeated), `none`. */
export type Idempotency = "required" | "optional" | "exempt" | "none";

declare const types: unique symbol;

/** One tool of a release. `Request` and `Arms` exist for the compiler only. */
export interface Tool<Name extends string = string, Request = unknown, Arms = AnyArms> {
  readonly name: Name;
  /** Protocol surface, e.g. `media-buy`. */
  readonly protocol: string;
  /** What it does, as its request's schema says first. */
  readonly summary?: string;
  /** Calling it twice with the same input is unsafe (docs/protocol/manifest.md#tool-entry). */
  readonly mutating: boolean;
  /**
   * What the request schema says of `idempotency_key`: a required or an optional field, none because the tool is
   * `exempt` (naturally idempotent), or none because it only reads.
   */
  readonly idempotency: Idempotency;
  readonly request: SchemaRef;
  /** Schema of each arm's data; null where the release gives none. */
  readonly arms: { readonly [S in keyof Arms]: SchemaRef | null };
  /** Task statuses that a synchronous payload's own `status` may speak of; other values there are the domain's. */
  readonly statuses: readonly TaskStatus[];
  /**
   * Fields the schema allows beside `errors` on a failed answer; they do not make it a successful one. Absent where no
   * branch of the response demands `errors`.
   */
  readonly failureFields?: readonly string[];
  readonly addedIn?: string;
  readonly deprecatedIn?: string;
  readonly [types]?: { request: Request; arms: Arms };
}

/** A tool of which neither name, request nor arms are known to the compiler. */
// biome-ignore lint/suspicious/noExplicitAny: any tool at all; unknown would make Request contravariant
export type AnyTool = Tool<string, any, any>;
/**
 * What an object has by this name from birth, for handlers that may be left out: of a tool called `constructor` an object without it has
 * the language's own.
 */
export type Inborn<Name> = Name extends "constructor" ? typeof Object.prototype.constructor : never;

/** The tools of a release by name. */
export type Tools = { readonly [name: string]: AnyTool };

/** The request of a tool. */
export type RequestOf<T> = T extends Tool<string, infer Request, infer _Arms> ? Request : never;
/** The arms of a tool: status -> data. */
export type ArmsOf<T> = T extends Tool<string, infer _Request, infer Arms> ? Arms : never;

/**
 * Tools whose `push_notification_config` is that of the media buy as well: events of the buy are told there long after the call
 * (docs/protocol/webhooks.md#persistent-channels).
 */
export const channelTools: ReadonlySet<string> = new Set(["create_media_buy", "update_media_buy"]);

/** Whether the tool may answer before its work is done, and the rest be told by a webhook or a poll. */
export const answersLater = (tool: AnyTool): boolean =>
  interimStatuses.some((status) => Object.hasOwn(tool.arms, status));
