/** What an area of a seller does: the tools it answers, and what it says of itself. */
import type { JsonObject, Release } from "../../contract/index.js";
import type { Seller } from "../../seller/create.js";
import type { TaskHandle } from "../../seller/types.js";
import type { ReportRequest } from "../../sender/types.js";
import type { CreativeFormat, Ports } from "../ports/index.js";
import type { BehaviourCall, BehaviourReply, BehaviourSettings, BehaviourToolCall, StandingCommit } from "./call.js";
import type { AnswerShapes } from "./shape.js";

/** A request as its schema has passed it. */
// biome-ignore lint/suspicious/noExplicitAny: each behaviour names the fields it reads, of whatever release
export type ToolBehaviour = (request: any, call: BehaviourToolCall) => Promise<BehaviourReply>;

/** What a behaviour is told when it says what it can do. */
export interface Serving {
  readonly release: Release;
  /** The protocol's. */
  readonly word: string;
  /** `MAJOR.MINOR` of the release, as the wire has it. */
  readonly version: string;
  readonly shapes: AnswerShapes;
  /** Tools that are answered. */
  readonly tools: ReadonlySet<string>;
  readonly specialisms: readonly string[];
  readonly agentUrl: string;
  readonly mode: BehaviourSettings["mode"];
  readonly ports: Ports;
  /** Formats that are taken and built. */
  readonly formats: readonly CreativeFormat[];
}

/** Codes of the test controller's own errors, which travel in its response. */
export type ScenarioCode = "INVALID_TRANSITION" | "INVALID_STATE" | "NOT_FOUND" | "UNKNOWN_SCENARIO" | "INVALID_PARAMS";

export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
  constructor(
    readonly code: ScenarioCode,
    message: string,
    /** State the resource is in; null where there is none. */
    readonly state: string | null = null,
  ) {
    super(message);
  }
}

/** What the test controller brings about by command. It throws ScenarioError for what cannot be done. */
export type ControllerScenario = (params: JsonObject, call: BehaviourCall) => Promise<JsonObject>;
export type Scenarios = Readonly<Record<string, ControllerScenario>>;

/** A text parameter that must be there. */
export function textParam(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value === "string" && value !== "") return value;
  throw new ScenarioError("INVALID_PARAMS", `params.${name} must be a text`);
}

/** An amount of at least nothing. */
export function amountParam(value: unknown, name: string): number {
  if (value === undefined) return 0;
  if (typeof value === "number" && value >= 0) return value;
  throw new ScenarioError("INVALID_PARAMS", `params.${name} must be a number of at least 0`);
}

/** What sellers do in one area: tools, and what they need of others. */
export interface Behaviour {
  readonly area: string;
  readonly tools: Readonly<Record<string, ToolBehaviour>>;
  /** Tools of it that are not answered with what the seller has; they are not offered. */
  readonly withheld?: (settings: BehaviourSettings) => readonly string[];
  /** Parts of requests that it judges itself, item by item; see `SellerOptions`. */
  readonly judges?: Readonly<Record<string, readonly string[]>>;
  /**
   * What it changes in one transaction that is several principals', or everybody's: a seller that serves it stays on one
   * database.
   */
  readonly shares?: string;
  /** Areas that it cannot be without. */
  readonly needs?: readonly string[];
  /** What it declares; members of several areas are laid over each other. */
  readonly capabilities?: (serving: Serving) => JsonObject;
  readonly scenarios?: Scenarios;
  /** Lets go of what the caller has beside its documents, before a test has those removed. */
  readonly reset?: (call: BehaviourCall) => Promise<void>;
  /** Data of a delivery report; undefined for a buy that it does not know. */
  readonly report?: (call: BehaviourCall, wanted: ReportWanted) => Promise<ReportContent | undefined>;
  /** What is done again and again while the seller runs: it carries on what was not finished. */
  readonly upkeep?: (upkeep: Upkeep) => Promise<void>;
  /** What it serves beside its tools. */
  readonly routes?: (app: Seller["app"], settings: BehaviourSettings) => void;
}

/** The report of a media buy that is due. */
export type ReportWanted = Pick<ReportRequest, "mediaBuyId" | "period" | "timezone" | "requestedMetrics">;

/** What a report holds beside its period and kind. */
export interface ReportContent extends JsonObject {
  currency: string;
  media_buy_deliveries: JsonObject[];
}

/** What work beside all calls is given. */
export interface Upkeep {
  readonly settings: BehaviourSettings;
  /** Aborted when the seller stops: what is not begun is left for the next start. */
  readonly stopping: AbortSignal;
  task(taskId: string): TaskHandle<never, never>;
  /** Does work on a principal's behalf, and commits what it wrote: by itself, or as part of what `commit` does. */
  onBehalf<T>(
    who: string | { readonly principal: string; readonly release: string },
    work: (call: BehaviourCall) => Promise<T>,
    commit?: StandingCommit<T>,
  ): Promise<T>;
}
