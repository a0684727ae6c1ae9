/** The test controller of an agent: what it can do, and the state that a storyboard has it prepare. */
import { isJsonObject, type JsonObject, type Release } from "../contract/index.js";
import { type AnsweredTool, isFailedAnswer } from "./agent/outcome.js";
import { callPatiently } from "./agent/patient.js";
import type { AgentAnswer, AgentSession } from "./agent/types.js";
import type { Storyboard } from "./document.js";
import type { Skip } from "./result.js";
import type { SchemaJudge } from "./schemas.js";

export const CONTROLLER = "comply_test_controller";

/** Kinds of fixtures in the order in which they build on each other, with what a row is known by. */
const kinds: readonly { readonly list: string; readonly scenario: string; readonly ids: readonly string[] }[] = [
  { list: "accounts", scenario: "seed_account", ids: ["account_id"] },
  { list: "products", scenario: "seed_product", ids: ["product_id"] },
  { list: "pricing_options", scenario: "seed_pricing_option", ids: ["product_id", "pricing_option_id"] },
  { list: "creative_formats", scenario: "seed_creative_format", ids: ["format_id"] },
  { list: "creatives", scenario: "seed_creative", ids: ["creative_id"] },
  { list: "plans", scenario: "seed_plan", ids: ["plan_id"] },
  { list: "media_buys", scenario: "seed_media_buy", ids: ["media_buy_id"] },
];

/** The account of the first step that names one: seeded state is to be found by that caller. */
export function accountOf(storyboard: Storyboard): JsonObject | undefined {
  for (const { steps } of storyboard.phases)
    for (const { sample_request: request } of steps)
      if (isJsonObject(request?.account) && !JSON.stringify(request.account).includes("$context."))
        return request.account;
  return undefined;
}

export interface SeedOutcome {
  readonly skip?: Skip;
  /** The row that was refused. */
  readonly failed?: { readonly answer: AgentAnswer; readonly problem: string };
}

export const sandboxAccount = (account: JsonObject | undefined): JsonObject => ({
  ...(account ?? { brand: { domain: "acmeoutdoor.example" }, operator: "pinnacle-agency.example" }),
  sandbox: true,
});

function seedCall(
  row: JsonObject,
  { scenario, ids }: (typeof kinds)[number],
  about: { storyboard: Storyboard },
): JsonObject {
  const named = Object.fromEntries(ids.flatMap((id) => (row[id] === undefined ? [] : [[id, row[id]]])));
  const rest = Object.fromEntries(Object.entries(row).filter(([key]) => !ids.includes(key)));
  const lone = Object.keys(rest).length === 1 && isJsonObject(rest.fixture) ? rest.fixture : rest;
  return {
    scenario,
    params: { ...named, fixture: lone },
    account: sandboxAccount(accountOf(about.storyboard)),
    context: { correlation_id: `${about.storyboard.id}--__seeding__` },
  };
}

const saysNo = (answer: AgentAnswer, answered: AnsweredTool): boolean =>
  answer.payload?.success === false || isFailedAnswer(answer, answered);

const why = ({ payload, error }: AgentAnswer): string =>
  String(payload?.error_detail ?? payload?.error ?? error?.message ?? JSON.stringify(payload)).slice(0, 300);

const RESET = "reset_state";

const resetCall = (account: JsonObject, correlation_id: string): JsonObject => ({
  scenario: RESET,
  params: {},
  account,
  context: { correlation_id },
});

/** Codes of a controller that does not know a scenario. */
const unknownScenario = (answer: AgentAnswer): boolean => answer.payload?.error === "UNKNOWN_SCENARIO";

interface AskedController {
  readonly session: AgentSession;
  readonly capabilities: JsonObject | undefined;
  readonly release: Release;
  readonly schemas: Pick<SchemaJudge, "takes">;
}

/**
 * Scenarios that a controller has: those that are listed, and `reset_state` where it does it. A release that closes its list to
 * others leaves it no way to say so, and has it take a name that it does not know.
 */
export async function controllerScenarios(asked: AskedController): Promise<readonly string[]> {
  const { session, capabilities, release, schemas } = asked;
  const listed = await listScenarios(session, capabilities);
  if (listed.length === 0 || listed.includes(RESET) || schemas.takes(CONTROLLER, "scenario", RESET)) return listed;
  const answer = await session.call(CONTROLLER, resetCall(sandboxAccount(undefined), "--__reset__"));
  const answered = { word: release.word, tool: release.tools[CONTROLLER] };
  return answer.payload?.success === true && !saysNo(answer, answered) ? [...listed, RESET] : listed;
}

/** Scenarios the controller says that it has; where it does not answer, those that the agent's capabilities list. */
async function listScenarios(session: AgentSession, capabilities: JsonObject | undefined): Promise<readonly string[]> {
  const context = { correlation_id: "--__scenarios__" };
  const asked = { scenario: "list_scenarios", account: sandboxAccount(undefined), context };
  const answer = await session.call(CONTROLLER, asked);
  const listed = answer.payload?.scenarios;
  if (Array.isArray(listed)) return listed.filter((one): one is string => typeof one === "string");
  if (isJsonObject(listed)) return Object.keys(listed);
  const block = capabilities?.compliance_testing;
  const stated = isJsonObject(block) ? block.scenarios : undefined;
  return Array.isArray(stated) ? stated.filter((one): one is string => typeof one === "string") : [];
}

/** One row of a storyboard's fixtures. */
export interface FixtureRow {
  readonly kind: (typeof kinds)[number];
  readonly row: JsonObject;
}

/** Rows of a storyboard's fixtures, in the order in which they build on each other. */
export function fixtureRows({ fixtures = {} }: Storyboard): FixtureRow[] {
  return kinds.flatMap((kind) => {
    const rows = fixtures[kind.list];
    return Array.isArray(rows) ? rows.filter(isJsonObject).map((row) => ({ kind, row })) : [];
  });
}

export interface Seeding {
  readonly session: AgentSession;
  readonly sleep: (ms: number) => Promise<void>;
  readonly scenarios: readonly string[];
  readonly answered: AnsweredTool;
}

/** Has the controller prepare one row. */
export async function seedRow(
  { kind, row }: FixtureRow,
  storyboard: Storyboard,
  { session, scenarios, answered, sleep }: Seeding,
): Promise<SeedOutcome> {
  const missing = (detail: string): SeedOutcome => ({ skip: { reason: "not_applicable", detail } });
  if (!scenarios.includes(kind.scenario))
    return missing(
      `the test controller would have to list the scenario ${kind.scenario}; it lists ${scenarios.join(", ") || "none"}`,
    );
  const answer = await callPatiently(session, sleep, CONTROLLER, seedCall(row, kind, { storyboard }));
  if (!saysNo(answer, answered)) return {};
  if (unknownScenario(answer)) return missing(`the test controller does not know ${kind.scenario}`);
  const named = kind.ids.map((id) => row[id]).join("/");
  return { failed: { answer, problem: `${kind.scenario} of ${named} was refused: ${why(answer)}` } };
}

/**
 * Has the controller take away what earlier storyboards have put there, where it says that it can.
 * @returns what went wrong: whatever is seeded after that would stand beside what is left
 */
export async function reset(
  storyboard: Storyboard,
  { session, scenarios, answered, sleep }: Seeding,
): Promise<SeedOutcome> {
  if (!scenarios.includes(RESET)) return {};
  const call = resetCall(sandboxAccount(accountOf(storyboard)), `${storyboard.id}--__reset__`);
  const answer = await callPatiently(session, sleep, CONTROLLER, call);
  return saysNo(answer, answered) ? { failed: { answer, problem: `${RESET} was refused: ${why(answer)}` } } : {};
}

/** Prepares what a storyboard starts from. */
export async function seed(storyboard: Storyboard, seeding: Seeding): Promise<SeedOutcome> {
  const rows = fixtureRows(storyboard);
  // What the controller cannot do is known before anything is prepared.
  const unlisted = rows.find(({ kind }) => !seeding.scenarios.includes(kind.scenario));
  for (const row of unlisted === undefined ? rows : [unlisted]) {
    const outcome = await seedRow(row, storyboard, seeding);
    if (outcome.skip !== undefined || outcome.failed !== undefined) return outcome;
  }
  return {};
}
