/** A whole run: the agent is asked what it is, the storyboards that follow from it are run one after the other. */
import { randomUUID } from "node:crypto";
import { setTimeout as systemSleep } from "node:timers/promises";
import {
  type JsonObject,
  type Release,
  type SchemaDocuments,
  type TransportName,
  wireNames,
} from "../contract/index.js";
import { openA2aSession } from "./agent/a2a.js";
import { createHttp } from "./agent/http.js";
import { openMcpSession } from "./agent/mcp.js";
import type { AgentSession, SessionOptions } from "./agent/types.js";
import { agentUnreachable } from "./agent-unreachable.js";
import type { WebhookCatcher } from "./caught.js";
import { CONTROLLER, controllerScenarios } from "./controller.js";
import { applyFaults, faultsOf } from "./faulty.js";
import { flightsNotice, movedFlights } from "./flights.js";
import type { GateFacts } from "./gates.js";
import { Invariants } from "./invariants.js";
import { authorizationFor } from "./kit.js";
import { loadSuite, type Suite } from "./load.js";
import { pinnedSession } from "./pins.js";
import { openCatcher } from "./probes/catcher.js";
import { type ConformanceReport, countSteps, type StoryboardResult, unknownChecks } from "./result.js";
import { countRoutes } from "./routes.js";
import { createSchemaJudge, type SchemaJudge } from "./schemas.js";
import { selectStoryboards, speaks } from "./select.js";
import type { KnownAgent, RunState } from "./state.js";
import { runStoryboard } from "./storyboard.js";

/** Which agent to test, with which suite and storyboards. Times are milliseconds. */
export interface ConformanceOptions {
  /** URL of the agent: its MCP endpoint, or where its A2A card is. */
  readonly url: string;
  /** The release that the suite belongs to: answers are judged by its schemas. */
  readonly release: Release;
  /** A loaded suite, or the folder or bundle that it stands in. */
  readonly suite: Suite | string;
  /** Every schema of the release, those that no tool reaches among them; without, webhooks are judged by those that are there. */
  readonly documents?: SchemaDocuments;
  /** The schemas as published, annotations too: without, what capabilities default to is not known. */
  readonly published?: SchemaDocuments;
  /** Default `mcp`. */
  readonly transport?: TransportName;
  /** Bearer token, or a whole value of the Authorization header. */
  readonly auth?: string;
  /** Agents of other roles: route key -> URL. */
  readonly agents?: Readonly<Record<string, string>>;
  /** Ids of storyboards; without these and specialisms, what the agent's capabilities call for. */
  readonly storyboards?: readonly string[];
  readonly specialisms?: readonly string[];
  /** Only steps of this id are reported; those before it are run all the same. */
  readonly step?: string;
  /** Host name -> address. */
  readonly resolve?: Readonly<Record<string, string>>;
  /** Certificates trusted beside the system's, PEM. */
  readonly ca?: string;
  /** Receives webhooks: what agents are told of it. False: the run receives none. */
  readonly webhooks?:
    | false
    | {
        readonly base?: string;
        readonly host?: string;
        readonly name?: string;
        readonly port?: number;
        readonly tls?: { readonly key: string; readonly cert: string };
      };
  /** Contracts between runner and agent that are kept beside the usual ones. */
  readonly contracts?: readonly string[];
  /** Milliseconds that one answer may take; default 30 000. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly uuid?: () => string;
  readonly sleep?: (ms: number) => Promise<void>;
  /** Told of each storyboard before it is run. */
  readonly onBegin?: (id: string, count: number, total: number) => void;
  /** Told of each storyboard that is done. */
  readonly onStoryboard?: (done: StoryboardResult, count: number, total: number) => void;
}

/** Characters told of why capabilities could not be read: an agent wrote them. */
const MAX_WORDS = 300;

/** Contracts that a run keeps without being told to: those that place no more orders than the storyboards do. */
const usual = ["webhook_receiver_runner", "parallel_dispatch_runner", "substitution_observer_runner"];

const open = (transport: TransportName, options: SessionOptions): Promise<AgentSession> =>
  transport === "mcp" ? openMcpSession(options) : openA2aSession(options);

type MetAgent = Omit<KnownAgent, "scenarios">;

async function meet(transport: TransportName, options: SessionOptions, word: string): Promise<MetAgent> {
  let session: AgentSession;
  try {
    session = await open(transport, options);
    const tools = new Set(await session.tools());
    const name = wireNames(word).capabilitiesTool;
    const answer = await session.call(name, {});
    const capabilities: JsonObject | undefined = answer.failed ? undefined : (answer.payload ?? undefined);
    const told = tools.has(name) ? answer.error?.message : undefined;
    return { url: session.url, session, tools, capabilities, ...(told !== undefined && { withheld: told }) };
  } catch (error) {
    throw agentUnreachable(transport, options.url, error);
  }
}

/** What its test controller can do, in the release that is graded. */
async function withScenarios(met: MetAgent, release: Release, schemas: SchemaJudge): Promise<KnownAgent> {
  if (!met.tools.has(CONTROLLER)) return { ...met, scenarios: [] };
  const session = pinnedSession(met, release, schemas);
  return {
    ...met,
    scenarios: await controllerScenarios({ session, capabilities: met.capabilities, schemas, release }),
  };
}

interface Opened {
  readonly run: RunState;
  readonly close: () => Promise<void>;
}

/** What an agent declares, and what holds where it does not. */
function gatesOf({ capabilities = {} }: MetAgent, { tools, word }: Release, schemas: SchemaJudge): GateFacts {
  const answers = (tools[wireNames(word).capabilitiesTool]?.arms as { completed?: string } | undefined)?.completed;
  const defaultOf = (path: string): unknown => (answers === undefined ? undefined : schemas.defaultAt(answers, path));
  return { capabilities, defaultOf };
}

async function openRun(options: ConformanceOptions, suite: Suite, schemas: SchemaJudge): Promise<Opened> {
  const { release, url, transport = "mcp", timeoutMs = 30_000, now = Date.now, uuid = randomUUID } = options;
  const http =
    options.fetch === undefined ? await createHttp({ resolve: options.resolve ?? {}, ca: options.ca }) : undefined;
  const fetch = options.fetch ?? http!.fetch;
  const authorization = authorizationFor(options.auth);
  const session = { fetch, authorization, timeoutMs, uuid, now };
  let catcher: WebhookCatcher | undefined;
  try {
    const known = async (at: string): Promise<KnownAgent> =>
      withScenarios(await meet(transport, { ...session, url: at }, release.word), release, schemas);
    const primary = await known(url);
    const agents = new Map<string, KnownAgent>();
    for (const [key, other] of Object.entries(options.agents ?? {})) agents.set(key, await known(other));
    catcher = options.webhooks === false ? undefined : await openCatcher({ ...options.webhooks, now });
    const gates = gatesOf(primary, release, schemas);
    const wrapped = wireNames(release.word).error;
    const run: RunState = {
      suite,
      release,
      schemas,
      fetch,
      primary,
      agents,
      authorization,
      gates,
      features: {
        controller: primary.tools.has(CONTROLLER),
        webhookReceiver: catcher !== undefined,
        agents: countRoutes(agents, primary.capabilities),
      },
      contracts: new Set([...usual, ...(options.contracts ?? [])]),
      catcher,
      invariants: new Invariants(authorization === undefined ? [] : [authorization.replace(/^\w+ /, "")], {
        wrapped,
        published: release.errors.IDEMPOTENCY_CONFLICT?.suggestion,
      }),
      aliases: new Map(),
      uuid,
      now,
      beganAt: now(),
      flights: movedFlights(suite, now()),
      timeoutMs,
      sleep: options.sleep ?? ((ms) => systemSleep(ms)),
    };
    return { run, close };
  } catch (error) {
    await close();
    throw error;
  }
  async function close(): Promise<void> {
    await catcher?.close();
    await http?.close();
  }
}

function reportOf(
  { run, options, suite, startedAt }: { run: RunState; options: ConformanceOptions; suite: Suite; startedAt: number },
  storyboards: readonly StoryboardResult[],
  rest: Pick<ConformanceReport, "notSelected" | "notices"> & { faults: readonly string[] },
): ConformanceReport {
  const shown =
    options.step === undefined
      ? storyboards
      : storyboards.map((one) => ({ ...one, steps: one.steps.filter(({ step }) => step === options.step) }));
  const steps = shown.flatMap((one) => one.steps);
  const counts = countSteps(steps);
  const gaps = storyboards.filter(({ verdict }) => verdict === "gap");
  const ok =
    counts.failed === 0 &&
    counts.passed > 0 &&
    rest.faults.length === 0 &&
    (options.step !== undefined || gaps.length === 0);
  return {
    suite: { version: suite.version, place: suite.place },
    release: { word: run.release.word, version: run.release.version },
    agent: { url: options.url, transport: run.primary.session.transport, tools: [...run.primary.tools] },
    startedAt: new Date(startedAt).toISOString(),
    tookMs: run.now() - startedAt,
    storyboards: shown,
    notSelected: rest.notSelected,
    counts,
    unknownChecks: unknownChecks(steps),
    notices: [...rest.faults, ...rest.notices, ...(run.flights === undefined ? [] : [flightsNotice(run.flights)])],
    ok,
  };
}

/**
 * Runs the storyboards of a suite against an agent. What the agent does wrong is in the report; nothing of it throws.
 * @throws AdbindError `agent_unreachable`, `suite_unreadable`, `usage` for an id that the suite does not have
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  const suite = typeof options.suite === "string" ? await loadSuite(options.suite) : options.suite;
  const schemas = await createSchemaJudge(options.release, options);
  const { run, close } = await openRun(options, suite, schemas);
  const startedAt = run.now();
  try {
    const { capabilities, tools, withheld } = run.primary;
    const selection = selectStoryboards(suite, capabilities, options, tools);
    const faults = [...selection.faults];
    const { word, version } = options.release;
    if (withheld !== undefined)
      faults.push(`the agent's capabilities could not be read: ${withheld.slice(0, MAX_WORDS)}`);
    if (!speaks(capabilities, word, version))
      faults.push(`the agent does not list ${version} among its supported_versions`);
    const list = faultsOf(version);
    const done: StoryboardResult[] = [];
    for (const selected of selection.selected) {
      options.onBegin?.(selected.storyboard.id, done.length + 1, selection.selected.length);
      const result = applyFaults(await runStoryboard(run, selected), list);
      done.push(result);
      options.onStoryboard?.(result, done.length, selection.selected.length);
    }
    return reportOf({ run, options, suite, startedAt }, done, { ...selection, faults });
  } finally {
    await run.primary.session.close().catch(() => undefined);
    for (const { session } of run.agents.values()) await session.close().catch(() => undefined);
    await close();
  }
}
