/**
 * Governance before spend: a governance agent is asked whether a call may be made, with the arguments as they would be sent, and
 * nothing leaves without its word. A call it cannot be asked about is not made either.
 */
import { type AnyTool, type Failure, isJsonObject, type JsonObject, type Release } from "../contract/index.js";
import { list, member } from "../extract/json-object.js";
import { isEndOver, momentMs } from "../moment.js";
import { shortText } from "../transport/fault.js";
import type { GovernanceOptions } from "./consent.js";
import { localError } from "./fault.js";
import type { BuyerSettings } from "./settings.js";
import type { LocalError } from "./types.js";

const CHECK = "check_governance";

export interface GovernedCall {
  readonly tool: AnyTool;
  readonly release: Release;
  /** As they would be sent. */
  readonly args: JsonObject;
  readonly signal: AbortSignal | undefined;
}

export type Governed =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly error: LocalError };

/** Times that conditions are taken for one call: an agent that always has another must not hold it for ever. */
const MAX_CONDITIONS = 3;

/** @returns the arguments with the agent's approval, or why they are not sent */
export async function governed(
  { governance, acceptance, url, now }: Pick<BuyerSettings, "governance" | "acceptance" | "url" | "now">,
  call: GovernedCall,
): Promise<Governed> {
  const { tool, release } = call;
  if (governance === undefined || !tool.mutating) return { ok: true, args: call.args };
  const refuse = (code: string, message: string, details: JsonObject = {}): Governed => {
    const known = Object.hasOwn(release.errors, code) ? release.errors[code]!.recovery : undefined;
    return { ok: false, error: localError(code, message, known ?? "terminal", { details }) };
  };
  let { args } = call;
  for (let turn = 0; ; turn++) {
    const plan = await governance.check({ tool: tool.name, request: args });
    if (plan === undefined) return { ok: true, args };
    const asked = { caller: governance.caller, tool: tool.name, payload: args, ...plan };
    const told = await ask(governance, { ...asked, ...(await routing(governance, url)) }, call.signal);
    if (!told.ok) return refuse("GOVERNANCE_UNAVAILABLE", told.message, told.details);
    const { data } = told;
    const { explanation, check_id, findings, conditions, governance_context: token, expires_at } = data;
    const why = `${tool.name} may not be called: ${typeof explanation === "string" ? explanation : "no reason is given"}`;
    const details = { ...(check_id !== undefined && { check_id }), ...(findings !== undefined && { findings }) };
    // Older releases have it under the name that later ones keep for the state of a task.
    const verdict = data.verdict ?? data.status;
    if (verdict === "approved") {
      if (isEndOver(expires_at, now()))
        return refuse("GOVERNANCE_DENIED", `the approval of ${tool.name} ${endWords(expires_at)}`, details);
      return { ok: true, args: { ...args, ...(typeof token === "string" && { governance_context: token }) } };
    }
    if (verdict !== "conditions") return refuse("GOVERNANCE_DENIED", why, details);
    const wanted = list(conditions).filter(isJsonObject);
    const taken =
      turn < MAX_CONDITIONS && (await acceptance.conditions?.({ tool: tool.name, request: args, conditions: wanted }));
    const adjusted = taken === true ? withConditions(args, wanted) : undefined;
    if (adjusted === undefined) return refuse("GOVERNANCE_CONDITIONS", why, { ...details, conditions: wanted });
    args = adjusted;
  }
}

const endWords = (expires: unknown): string =>
  typeof expires !== "string" || Number.isNaN(momentMs(expires))
    ? `has an end that is no time of RFC 3339: ${shortText(JSON.stringify(expires))}`
    : `has ended: ${expires}`;

type GovernanceAnswer =
  | { readonly ok: true; readonly data: JsonObject }
  | { readonly ok: false; readonly message: string; readonly details: JsonObject };

async function ask(
  { agent }: GovernanceOptions,
  request: JsonObject,
  signal: AbortSignal | undefined,
): Promise<GovernanceAnswer> {
  const { answer } = await agent.call(CHECK, request, signal === undefined ? {} : { signal });
  if (answer.status === "completed" && isJsonObject(answer.data)) return { ok: true, data: answer.data };
  const [error] = answer.status === "failed" || answer.status === "rejected" ? (answer.data as Failure).errors : [];
  const why = error === undefined ? `it answers ${answer.status}` : `${error.code}, ${error.message}`;
  return { ok: false, message: `the governance agent could not be asked: ${why}`, details: error ? { error } : {} };
}

/** Whom the call is for, where the agent's release has the check say so. */
async function routing({ agent }: GovernanceOptions, url: string): Promise<JsonObject> {
  const negotiation = await agent.negotiate();
  const release = negotiation.ok ? negotiation.negotiated.release : undefined;
  const ref = release !== undefined && Object.hasOwn(release.tools, CHECK) ? release.tools[CHECK]!.request : undefined;
  const text = ref === undefined ? undefined : (await release!.schemas())[ref];
  const properties = text === undefined ? undefined : (JSON.parse(text) as JsonObject).properties;
  return isJsonObject(properties) && Object.hasOwn(properties, "target_agent") ? { target_agent: url } : {};
}

/** The arguments as conditions want them; undefined where they name what is not there, or change nothing. */
function withConditions(args: JsonObject, conditions: readonly JsonObject[]): JsonObject | undefined {
  const adjusted = structuredClone(args);
  for (const { field, required_value: value } of conditions) {
    if (typeof field !== "string") return undefined;
    // Without a value it is advice, and what the check says beside the request is the application's to reckon.
    if (value === undefined || field.startsWith("proposed_commitment")) continue;
    const steps = field
      .replace(/^payload\./, "")
      .split(/[.[\]]/)
      .filter((step) => step !== "");
    let held: unknown = adjusted;
    for (const step of steps.slice(0, -1))
      held = member(held, step) ?? (Array.isArray(held) ? held[Number(step)] : undefined);
    const last = steps.at(-1);
    if (typeof held !== "object" || held === null || last === undefined || last === "__proto__") return undefined;
    (held as JsonObject)[last] = value;
  }
  return conditions.some(({ required_value: value }) => value !== undefined) ? adjusted : undefined;
}
