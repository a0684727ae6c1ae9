/** What a live agent is asked, and what its answers have to keep. */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Buyer } from "../../buyer/index.js";
import type { AnyTool, Failure, JsonObject, Release } from "../../contract/index.js";
import { createValidator, type Validator } from "../../validate/index.js";
import { Sampler } from "./sample.js";

/** Every check, in the order of a report. */
export const checks = {
  offered: "the agent lists the tool",
  answers: "a valid request is answered validly, or refused for what it asks, not because the agent cannot",
  schema: "the answer is what the release's schema says",
  context: "the request's context comes back unchanged",
  unknown_fields: "a member that no release knows is let pass",
  errors: "an invalid request is refused, with code, message and recovery",
} as const;

/** Names a check of one tool. */
export type CheckId = keyof typeof checks;

/** What came of one check. */
export interface CheckResult {
  readonly check: CheckId;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly detail?: string;
}

/** What one tool of an agent answered to the checks of it. */
export interface ToolReport {
  readonly tool: string;
  /** An entry point of the specialism; of others nothing is demanded but that they are right where they are. */
  readonly required: boolean;
  /** The agent lists it, or no release has it. */
  readonly offered: boolean;
  readonly checks: readonly CheckResult[];
}

export interface ProbeOptions {
  readonly buyer: Buyer;
  readonly release: Release;
  /** Send valid requests to tools that change state. */
  readonly mutating: boolean;
}

const passed = (check: CheckId): CheckResult => ({ check, outcome: "passed" });
const failed = (check: CheckId, detail: string): CheckResult => ({ check, outcome: "failed", detail });
const skipped = (check: CheckId, detail: string): CheckResult => ({ check, outcome: "skipped", detail });

type CallResult = Awaited<ReturnType<Buyer["call"]>>;

interface AgentError {
  readonly code: string;
  readonly message: string;
  readonly recovery?: unknown;
  readonly source?: unknown;
  readonly field?: unknown;
}

/** What an agent says of a tool that it lists and cannot answer. */
const unable: ReadonlySet<string> = new Set(["UNSUPPORTED_FEATURE", "VERSION_UNSUPPORTED", "INVALID_ANSWER"]);
/** What an agent says of a request that breaks its schema, or more. */
const blaming: ReadonlySet<string> = new Set(["INVALID_REQUEST", "VALIDATION_ERROR"]);

/** The agent's own error; undefined for an answer that is none, or a failure made on the way. */
function errorOf({ answer }: CallResult): AgentError | undefined {
  if (answer.status !== "failed" && answer.status !== "rejected") return undefined;
  return (answer.data as Failure).errors[0];
}

const madeHere = (called: CallResult): string | undefined => {
  const error = errorOf(called);
  return error?.source === "buyer" ? `${error.code}: ${error.message}` : undefined;
};

interface Asked {
  readonly request: JsonObject;
  readonly called: CallResult;
}

/** The member of a request that is refused as a feature that the agent does not have. */
function optional(error: AgentError | undefined, request: JsonObject): string | undefined {
  if (error?.code !== "UNSUPPORTED_FEATURE") return undefined;
  // A path or a pointer begins with it.
  const [name = ""] = String(error.field ?? "").match(/[^./[]+/) ?? [];
  return Object.hasOwn(request, name) ? name : undefined;
}

interface Judging {
  readonly sampler: Sampler;
  readonly validator: Validator;
}

/** A release's schemas are read and compiled once, however many agents are asked. */
const judging = new WeakMap<Release, Promise<Judging>>();

const judgeOf = async (release: Release): Promise<Judging> => ({
  sampler: new Sampler(await release.schemas()),
  validator: await createValidator(release),
});

export class Probe {
  private constructor(
    private readonly options: ProbeOptions,
    private readonly sampler: Sampler,
    private readonly validator: Validator,
    private readonly listed: readonly string[],
  ) {}

  static async open(options: ProbeOptions): Promise<Probe> {
    const { release, buyer } = options;
    const known = judging.get(release) ?? judgeOf(release);
    judging.set(release, known);
    const { sampler, validator } = await known;
    return new Probe(options, sampler, validator, await buyer.listed());
  }

  async tool(name: string, required: boolean): Promise<ToolReport> {
    const tool = this.options.release.tools[name];
    const offered = this.listed.includes(name);
    if (tool === undefined)
      return { tool: name, required, offered: true, checks: [skipped("offered", "no tool of the release")] };
    if (!offered) {
      const missing = required ? failed : skipped;
      return { tool: name, required, offered, checks: [missing("offered", "not among the tools the agent lists")] };
    }
    const all = [passed("offered"), ...(await this.valid(tool)), await this.invalid(tool)];
    return { tool: name, required, offered, checks: all };
  }

  private call(tool: AnyTool, request: JsonObject): Promise<CallResult> {
    return this.options.buyer.call(tool.name, request, { webhook: false });
  }

  private async valid(tool: AnyTool): Promise<readonly CheckResult[]> {
    const all = ["answers", "schema", "context", "unknown_fields"] as const;
    if (tool.mutating && !this.options.mutating) {
      return all.map((check) => skipped(check, "it changes state: see --mutating"));
    }
    const context = { check: randomUUID(), nested: { list: [1, "two", null] } };
    const asked = await this.plainest(tool, context);
    if (asked === undefined) return all.map((check) => skipped(check, "no valid request could be made"));
    const { request, called } = asked;
    const here = madeHere(called);
    if (here !== undefined)
      return [failed("answers", here), ...all.slice(1).map((check) => skipped(check, "no answer"))];
    const schema = this.schema(tool, called);
    return [
      this.answers(called, schema),
      schema,
      isDeepStrictEqual(called.answer.context, context)
        ? passed("context")
        : failed("context", `sent ${JSON.stringify(context)}, came back ${JSON.stringify(called.answer.context)}`),
      await this.unknownFields(tool, request, called),
    ];
  }

  /**
   * Asks; where something that not every request has is not supported, for what is plainer. Who supports none is judged by
   * what came first.
   */
  private async plainest(tool: AnyTool, context: JsonObject): Promise<Asked | undefined> {
    let first: Asked | undefined;
    const refused = new Set<string>();
    for (const sample of this.validRequests(tool)) {
      if (Object.keys(sample).some((name) => refused.has(name))) continue;
      const asked = await this.asked(tool, sample, context);
      const feature = optional(errorOf(asked.called), asked.request);
      if (first === undefined) first = asked;
      else if (!unable.has(errorOf(asked.called)?.code ?? "")) return asked;
      if (feature === undefined || this.wellFormed("schema", asked.called.answer.data as Failure).outcome === "failed")
        return first;
      refused.add(feature);
    }
    return first;
  }

  /** Asks; where a member is missed that the schema describes and does not demand, with that. */
  private async asked(tool: AnyTool, sample: JsonObject, context: JsonObject): Promise<Asked> {
    const called = await this.call(tool, { ...sample, context });
    const field = errorOf(called)?.field;
    const missed = typeof field === "string" && !Object.hasOwn(sample, field) ? field : undefined;
    const value = missed === undefined ? undefined : this.sampler.member(tool.request, missed);
    if (missed === undefined || value === undefined) return { request: sample, called };
    const request = { ...sample, [missed]: value };
    if (!this.validator.request(tool.name, this.keyed(tool, { ...request, context })).ok)
      return { request: sample, called };
    return { request, called: await this.call(tool, { ...request, context }) };
  }

  /** An answer that is not valid is none, and neither is an error that says nothing of the request. */
  private answers(called: CallResult, schema: CheckResult): CheckResult {
    const error = errorOf(called);
    if (error === undefined)
      return schema.outcome === "failed" ? failed("answers", "not validly: see schema") : passed("answers");
    const why = this.cannot(error);
    return why === undefined ? passed("answers") : failed("answers", `${error.code}: ${why}`);
  }

  /** Why an error is no answer to a valid request. */
  private cannot({ code, recovery, field }: AgentError): string | undefined {
    const { errors, defaultUnknownRecovery } = this.options.release;
    const known = Object.hasOwn(errors, code) ? errors[code] : undefined;
    if (unable.has(code)) return "the agent cannot do it";
    if (/^AUTH/.test(code)) return "the agent wants credentials: see --auth";
    const named = typeof field === "string" && field !== "";
    // What names a field is about the request: another version of what it changes, say.
    if (!named && (recovery ?? known?.recovery ?? defaultUnknownRecovery) === "transient")
      return "the agent cannot do it now";
    if (known === undefined && recovery !== "correctable")
      return "no error of the release, and nothing that the caller can mend";
    if (blaming.has(code) && !named) return "the request is valid, and no field of it is named";
    return undefined;
  }

  private *validRequests(tool: AnyTool): Iterable<JsonObject> {
    for (const { idempotency_key: _key, ...request } of this.sampler.requests(tool.request)) {
      // Each call has a key of its own: a sample's would be that of the run before.
      if (this.validator.request(tool.name, this.keyed(tool, { ...request, context: {} })).ok) yield request;
    }
  }

  /** The key a buyer adds, for judging only. */
  private keyed(tool: AnyTool, request: JsonObject): JsonObject {
    return tool.idempotency === "required" ? { idempotency_key: randomUUID(), ...request } : request;
  }

  private schema(tool: AnyTool, { answer }: CallResult): CheckResult {
    if (answer.status === "failed" || answer.status === "rejected" || answer.status === "canceled") {
      return this.wellFormed("schema", answer.data as Failure);
    }
    const judged = this.validator.arm(tool.name, answer.status, answer.data);
    if (judged.ok) return passed("schema");
    const [first] = judged.errors;
    return failed("schema", `${answer.status}: ${first?.pointer} ${first?.message}`);
  }

  private async unknownFields(tool: AnyTool, request: JsonObject, known: CallResult): Promise<CheckResult> {
    const name = `x_unknown_${randomUUID().slice(0, 8)}`;
    const more = { ...request, [name]: { any: "thing" } };
    if (!this.validator.request(tool.name, this.keyed(tool, more)).ok) {
      return skipped("unknown_fields", "the schema closes the request");
    }
    const called = await this.call(tool, more);
    const error = errorOf(called);
    const before = errorOf(known);
    if (called.answer.status === known.answer.status && error?.code === before?.code) return passed("unknown_fields");
    return failed("unknown_fields", error === undefined ? called.answer.status : `${error.code}: ${error.message}`);
  }

  private async invalid(tool: AnyTool): Promise<CheckResult> {
    const lacking = this.sampler.required(tool.request).filter((name) => name !== "idempotency_key");
    // Without a member that must be there, a request could be one that is carried out.
    if (lacking.length === 0 && tool.mutating) return skipped("errors", "every request is a valid one");
    const request = lacking.length > 0 ? {} : { context: 7, ext: 7 };
    if (this.validator.request(tool.name, this.keyed(tool, request)).ok) {
      return skipped("errors", "no invalid request is known");
    }
    const called = await this.call(tool, request);
    const here = madeHere(called);
    if (here !== undefined) return failed("errors", here);
    const { answer } = called;
    if (answer.status === "failed" || answer.status === "rejected") {
      return this.wellFormed("errors", answer.data as Failure);
    }
    // Some tools refuse in an answer of their own: `success` is false, and their schema says how.
    const refused = answer.status === "completed" && (answer.data as JsonObject | undefined)?.success === false;
    if (refused && this.validator.arm(tool.name, answer.status, answer.data).ok) return passed("errors");
    return failed("errors", `an invalid request was answered as ${answer.status}`);
  }

  private wellFormed(check: CheckId, { errors }: Failure): CheckResult {
    const [error] = errors;
    if (error === undefined) return failed(check, "a failure without an error");
    const { code, message, recovery } = error as Partial<typeof error>;
    if (typeof code !== "string" || code === "" || code.length > 64) return failed(check, "an error without a code");
    if (typeof message !== "string" || message === "" || message === code) return failed(check, `${code}: no message`);
    const known = Object.hasOwn(this.options.release.errors, code);
    if (recovery === undefined && !known) return failed(check, `${code}: neither in the table nor with a recovery`);
    if (recovery !== undefined && !["correctable", "transient", "terminal"].includes(recovery)) {
      return failed(check, `${code}: recovery ${JSON.stringify(recovery)}`);
    }
    return passed(check);
  }
}
