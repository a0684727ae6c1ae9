/** What a run knows, and what one storyboard of it knows. */
import type { JsonObject, Release } from "../contract/index.js";
import type { AgentAnswer, AgentSession } from "./agent/types.js";
import type { WebhookCatcher } from "./caught.js";
import type { Storyboard } from "./document.js";
import type { FixtureBinding } from "./fixtures.js";
import type { MovedFlights } from "./flights.js";
import type { GateFacts, RunFeatures } from "./gates.js";
import type { Invariants } from "./invariants.js";
import type { Suite } from "./load.js";
import type { StepResult } from "./result.js";
import type { SchemaJudge } from "./schemas.js";

/** One agent of the run, and what it said of itself. */
export interface KnownAgent {
  readonly url: string;
  readonly session: AgentSession;
  readonly tools: ReadonlySet<string>;
  /** Undefined where it gives none. */
  readonly capabilities: JsonObject | undefined;
  /** Why it gives none, though it lists their tool. */
  readonly withheld?: string;
  /** Scenarios of its test controller. */
  readonly scenarios: readonly string[];
}

export interface RunState {
  readonly suite: Suite;
  readonly release: Release;
  readonly schemas: SchemaJudge;
  readonly fetch: typeof globalThis.fetch;
  readonly primary: KnownAgent;
  /** Agents of other roles, by route key. */
  readonly agents: ReadonlyMap<string, KnownAgent>;
  /** Authorization header of the run's own credential. */
  readonly authorization: string | undefined;
  readonly features: RunFeatures;
  readonly gates: GateFacts;
  /** Contracts between runner and agent that the run keeps. */
  readonly contracts: ReadonlySet<string>;
  readonly catcher: WebhookCatcher | undefined;
  readonly invariants: Invariants;
  readonly aliases: Map<string, string>;
  readonly uuid: () => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** When the run began. */
  readonly beganAt: number;
  /** Undefined where the flights of the suite are asked for as they are published. */
  readonly flights: MovedFlights | undefined;
  readonly timeoutMs: number;
  /** Waits; a test's clock may not. */
  readonly sleep: (ms: number) => Promise<void>;
}

export interface PassedAnswer {
  readonly step: string;
  readonly task: string;
  readonly payload: JsonObject;
}

/** What one storyboard has come to. */
export interface StoryState {
  readonly run: RunState;
  readonly storyboard: Storyboard;
  readonly kit: JsonObject;
  readonly context: Map<string, unknown>;
  /** Flag -> `phase.step` that contributed it. */
  readonly flags: Map<string, string>;
  readonly results: Map<string, StepResult>;
  readonly history: PassedAnswer[];
  readonly answers: Map<string, AgentAnswer>;
  /** When each step was sent, milliseconds since the epoch. */
  readonly startedAt: Map<string, number>;
  readonly operationIds: Map<string, string>;
  /** Handles of fixtures that stand for what the agent has under other names. */
  readonly bindings: FixtureBinding[];
  /** How the storyboard talks to an agent of the run. */
  readonly sessionOf: (agent: KnownAgent) => AgentSession;
}
