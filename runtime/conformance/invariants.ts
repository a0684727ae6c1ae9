/** What holds in every run, whatever a storyboard is about. */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import type { AgentAnswer } from "./agent/types.js";
import type { Storyboard, StoryboardStep } from "./document.js";
import { coherent } from "./invariants-impairment.js";
import { Monotonic } from "./invariants-status.js";
import type { GradedCheck } from "./result.js";

export interface Observed {
  readonly storyboard: Storyboard;
  readonly step: StoryboardStep;
  readonly task: string;
  readonly answer: AgentAnswer;
  readonly code: string | undefined;
  /** The step passed its own checks. */
  readonly passed: boolean;
  /** It asked for a failure. */
  readonly failed: boolean;
}

const conflictFields = new Set([
  "code",
  "message",
  "recovery",
  "status",
  "correlation_id",
  "request_id",
  "operation_id",
]);

/** How the release writes a conflict. */
export interface ConflictWords {
  /** The member that wraps an error. */
  readonly wrapped: string;
  /** What it advises. */
  readonly published: string | undefined;
}

/** A conflict must not tell what the key was used for before. */
function noPayloadLeak({ answer, code }: Observed, { wrapped, published }: ConflictWords): GradedCheck | undefined {
  if (code !== "IDEMPOTENCY_CONFLICT") return undefined;
  const error = answer.payload?.[wrapped];
  if (!isJsonObject(error)) return undefined;
  // The release's own words for the code are nobody's payload.
  const leaked = Object.keys(error).find(
    (key) => !conflictFields.has(key) && !(key === "suggestion" && error[key] === published),
  );
  if (leaked === undefined) return undefined;
  return {
    check: "invariant idempotency.conflict_no_payload_leak",
    description: "a conflict tells nothing of the request that came first",
    outcome: "failed",
    pointer: `/${wrapped}/${leaked}`,
    expected: { only: [...conflictFields] },
    actual: error[leaked],
  };
}

const secretKeys = new Set(["authorization", "api_key", "apikey", "bearer", "x-api-key"]);

/** Shortest secret that is looked for: shorter ones stand in answers by chance. */
const MIN_SECRET = 16;

function secretIn(value: unknown, secrets: readonly string[], pointer: string): string | undefined {
  if (typeof value === "string") {
    if (/\bbearer\s+\S{10,}/i.test(value)) return pointer;
    return secrets.some((secret) => secret.length >= MIN_SECRET && value.includes(secret)) ? pointer : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const at = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (secretKeys.has(key.toLowerCase()) && typeof item === "string" && item !== "") return at;
    const found = secretIn(item, secrets, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function noSecretEcho({ answer }: Observed, secrets: readonly string[]): GradedCheck | undefined {
  const pointer = secretIn(answer.payload, secrets, "");
  if (pointer === undefined) return undefined;
  return {
    check: "invariant context.no_secret_echo",
    description: "no answer repeats a credential",
    outcome: "failed",
    pointer,
    expected: "no credential",
    actual: "[redacted]",
  };
}

const denials = new Set([
  "GOVERNANCE_DENIED",
  "CAMPAIGN_SUSPENDED",
  "PERMISSION_DENIED",
  "POLICY_VIOLATION",
  "TERMS_REJECTED",
  "COMPLIANCE_UNSATISFIED",
]);

const mutations =
  /^(create_media_buy|update_media_buy|activate_signal|acquire_rights|(create|update|delete)_(property|collection)_list)$/;

const planOf = (request: unknown): string | undefined => {
  const plan = isJsonObject(request) ? request.plan_id : undefined;
  return typeof plan === "string" ? plan : undefined;
};

const resourceOf = (payload: JsonObject | null): string | undefined => {
  for (const name of ["media_buy_id", "activation_id", "list_id", "rights_id", "grant_id"])
    if (typeof payload?.[name] === "string") return payload[name];
  return undefined;
};

/** Invariants of one run: they remember what they saw. */
export class Invariants {
  private readonly monotonic = new Monotonic();
  private readonly denied = new Map<string, string>();
  private readonly offline = new Map<string, string>();

  constructor(
    private readonly secrets: readonly string[],
    private readonly words: ConflictWords,
  ) {}

  private denial(seen: Observed): GradedCheck | undefined {
    const { payload } = seen.answer;
    const verdict = payload?.verdict ?? payload?.status;
    const isDenied =
      (seen.task === "check_governance" && verdict === "denied") || (seen.code !== undefined && denials.has(seen.code));
    const plan = planOf(seen.answer.request.payload);
    if (isDenied && seen.step.expect_error !== true)
      this.denied.set(plan ?? "*", `${seen.storyboard.id}/${seen.step.id}`);
    if (!seen.passed || seen.failed || !mutations.test(seen.task)) return undefined;
    const at = plan === undefined ? undefined : this.denied.get(plan);
    const resource = resourceOf(payload);
    if (at === undefined || resource === undefined) return undefined;
    return {
      check: "invariant governance.denial_blocks_mutation",
      description: "what governance denied is not carried out",
      outcome: "failed",
      expected: `no resource for plan ${plan}, denied at ${at}`,
      actual: resource,
    };
  }

  /** A storyboard's own state ends with it. */
  startStoryboard(): void {
    this.monotonic.reset();
    this.denied.clear();
    this.offline.clear();
  }

  /** @returns the invariants that a step breaks */
  observe(seen: Observed, disabled: ReadonlySet<string>): GradedCheck[] {
    const found: (GradedCheck | undefined)[] = [];
    const look = (id: string, judge: () => GradedCheck | undefined): void => {
      if (!disabled.has(id)) found.push(judge());
    };
    look("idempotency.conflict_no_payload_leak", () => noPayloadLeak(seen, this.words));
    look("context.no_secret_echo", () => noSecretEcho(seen, this.secrets));
    look("governance.denial_blocks_mutation", () => this.denial(seen));
    if (seen.passed && !seen.failed) {
      look("status.monotonic", () => this.monotonic.observe(seen));
      look("impairment.coherence", () => {
        const { payload, request } = seen.answer;
        return coherent(payload, this.offline, isJsonObject(request.payload) ? request.payload : {});
      });
    }
    return found.filter((one) => one !== undefined);
  }
}

/** Invariants that a storyboard or a step turns off. */
export function disabledInvariants(storyboard: Storyboard, step: StoryboardStep): Set<string> {
  const of = (value: unknown): string[] =>
    isJsonObject(value) && Array.isArray(value.disable) ? value.disable.map(String) : [];
  return new Set([...of(storyboard.invariants), ...of(step.invariants)]);
}
