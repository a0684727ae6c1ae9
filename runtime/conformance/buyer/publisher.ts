/**
 * A seller with scripted answers, played to a buyer under test: products and capabilities of a storyboard's fixtures, orders
 * answered as its scenarios say, under keys that are kept.
 */
import { createHash, randomUUID } from "node:crypto";
import { isJsonObject, type JsonObject, type Release, wireNames } from "../../contract/index.js";
import { isSame } from "../equality.js";
import type { Scenario, SeenCall } from "./types.js";

/** What a call came to: an answer, or that there is none. */
export interface PlayedAnswer {
  readonly payload?: JsonObject;
  readonly failed?: true;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface PublisherOptions {
  readonly release: Release;
  readonly capabilities: JsonObject;
  readonly products: readonly JsonObject[];
  readonly now: () => number;
  /** A task that was answered with `submitted`, and where its webhooks go. */
  readonly onSubmitted: (task: PublishedTask, push: JsonObject | undefined, scenario: Scenario) => void;
}

export interface PublishedTask {
  readonly id: string;
  readonly phase: string;
  readonly createdAt: number;
  readonly request: JsonObject;
  readonly scenario: Scenario;
  status: string;
  result: JsonObject | undefined;
  /** Polls that still find it unfinished. */
  left: number;
  /** When the buyer was told of its end. */
  toldAt: number | undefined;
}

interface Kept {
  readonly request: JsonObject;
  readonly payload: JsonObject;
}

/** Tools that ask for a task, over the releases. */
const pollTools: ReadonlySet<string> = new Set(["get_task_status", "tasks_get", "tasks/get"]);

const withoutTransport = ({ context: _, push_notification_config: _push, ...rest }: JsonObject): JsonObject => rest;

export class Publisher {
  readonly calls: SeenCall[] = [];
  readonly tasks = new Map<string, PublishedTask>();
  private readonly kept = new Map<string, Kept>();
  private readonly left = new Map<string, { scenario: Scenario; times: number }[]>();

  constructor(private readonly options: PublisherOptions) {}

  /** Sets what orders are answered with in a phase. */
  script(phase: string, scenarios: readonly Scenario[]): void {
    this.left.set(
      phase,
      scenarios.map((scenario) => ({ scenario, times: scenario.times ?? 1 })),
    );
  }

  get tools(): readonly string[] {
    const { release } = this.options;
    const poll = [...pollTools].find((name) => Object.hasOwn(release.tools, name)) ?? "tasks_get";
    const own = ["get_products", "list_products", "create_media_buy", "update_media_buy", "sync_creatives"];
    const offered = own.filter((name) => Object.hasOwn(release.tools, name));
    return [wireNames(release.word).capabilitiesTool, ...offered, poll];
  }

  /** Answers a call, and remembers it. */
  call(tool: string, args: JsonObject, { phase, url }: { phase: string; url: string }): PlayedAnswer {
    const { published, ...more } = this.answered(tool, args, phase);
    const { context } = args;
    const payload = published.payload && { ...published.payload, ...(isJsonObject(context) && { context }) };
    this.calls.push({ at: this.options.now(), phase, tool, url, args, answer: payload, ...more });
    return { ...published, ...(payload && { payload }) };
  }

  private answered(
    tool: string,
    args: JsonObject,
    phase: string,
  ): { published: PlayedAnswer } & Pick<SeenCall, "scenario" | "replayed"> {
    const { release, capabilities, products } = this.options;
    if (tool === wireNames(release.word).capabilitiesTool) return { published: this.complete(capabilities) };
    if (tool === "get_products" || tool === "list_products") return { published: this.complete(this.list(products)) };
    if (pollTools.has(tool)) return { published: this.poll(args) };
    if (tool === "create_media_buy") return this.once(tool, args, () => this.order(args, phase));
    if (tool === "update_media_buy" || tool === "sync_creatives")
      return this.once(tool, args, () => ({ published: this.complete(this.changed(tool, args)) }));
    return { published: this.failure("UNSUPPORTED_FEATURE", { message: `there is no ${tool}` }) };
  }

  private list(products: readonly JsonObject[]): JsonObject {
    return { products, cache_scope: "account" };
  }

  /** Keys hold what was answered to them, errors apart. */
  private once(
    tool: string,
    args: JsonObject,
    make: () => { published: PlayedAnswer; scenario?: Scenario },
  ): { published: PlayedAnswer } & Pick<SeenCall, "scenario" | "replayed"> {
    const { idempotency_key: key } = args;
    if (typeof key !== "string")
      return { published: this.failure("INVALID_REQUEST", { field: "idempotency_key", message: "it has no key" }) };
    const known = this.kept.get(`${tool} ${key}`);
    if (known !== undefined && !isSame(withoutTransport(known.request), withoutTransport(args)))
      return { published: this.failure("IDEMPOTENCY_CONFLICT", { message: "another request had this key" }) };
    if (known !== undefined) return { published: { payload: { ...known.payload, replayed: true } }, replayed: true };
    const made = make();
    const { payload, failed } = made.published;
    const interim = made.scenario?.response_type === "input-required";
    const answered = failed || interim ? undefined : payload;
    const kept = made.scenario?.lost ? this.complete(this.booked(args)).payload : answered;
    if (kept !== undefined) this.kept.set(`${tool} ${key}`, { request: args, payload: kept });
    return made;
  }

  private scenarioFor(phase: string): Scenario {
    const queue = this.left.get(phase) ?? [];
    const [next] = queue;
    if (next === undefined) return { response_type: "synchronous" };
    next.times -= 1;
    if (next.times <= 0 && queue.length > 1) queue.shift();
    return next.scenario;
  }

  private order(args: JsonObject, phase: string): { published: PlayedAnswer; scenario: Scenario } {
    const scenario = this.scenarioFor(phase);
    if (scenario.error_code !== undefined) return { published: this.refused(scenario), scenario };
    if (scenario.lost) return { published: {}, scenario };
    if (scenario.response_type === "input-required") {
      const { reason = "APPROVAL_REQUIRED", message } = scenario;
      const payload = { status: "input-required", reason, ...(message !== undefined && { message }) };
      return { published: { payload }, scenario };
    }
    if (scenario.response_type !== "submitted")
      return { published: this.complete(this.booked(args, scenario.media_buy_status)), scenario };
    const { task_id: id = `task_${randomUUID()}` } = scenario;
    const { now } = this.options;
    const push = isJsonObject(args.push_notification_config) ? args.push_notification_config : undefined;
    // What ends by webhook has not ended for polls before.
    const left =
      scenario.webhooks !== undefined && push !== undefined ? Number.POSITIVE_INFINITY : (scenario.polls ?? 1);
    const task: PublishedTask = {
      ...{ id, phase, createdAt: now(), request: args, scenario, left },
      ...{ status: "submitted", result: undefined, toldAt: undefined },
    };
    this.tasks.set(id, task);
    this.options.onSubmitted(task, push, scenario);
    return { published: { payload: { status: "submitted", task_id: id } }, scenario };
  }

  /** What an order has become. */
  booked({ packages, account }: JsonObject, state = "active"): JsonObject {
    const rows = Array.isArray(packages) ? packages.filter(isJsonObject) : [];
    const at = this.options.release.facts.envelope.mediaBuyState.value;
    const id = createHash("sha256").update(randomUUID()).digest("hex").slice(0, 12);
    return {
      media_buy_id: `mb_${id}`,
      ...(at === "status" ? { status: state } : { media_buy_status: state }),
      confirmed_at: new Date(this.options.now()).toISOString(),
      revision: 1,
      ...(isJsonObject(account) && typeof account.account_id === "string" && { account }),
      packages: rows.map(({ product_id, budget, pricing_option_id }, index) => ({
        package_id: `pkg_${id}_${index}`,
        ...{ product_id, budget, pricing_option_id },
      })),
    };
  }

  private changed(tool: string, args: JsonObject): JsonObject {
    if (tool === "sync_creatives") {
      const rows = Array.isArray(args.creatives) ? args.creatives.filter(isJsonObject) : [];
      return { creatives: rows.map(({ creative_id }) => ({ creative_id, action: "created", status: "approved" })) };
    }
    const at = this.options.release.facts.envelope.mediaBuyState.value;
    const state = args.paused === true ? "paused" : "active";
    return {
      media_buy_id: args.media_buy_id,
      ...(at === "status" ? { status: state } : { media_buy_status: state }),
      revision: 2,
    };
  }

  /** Ends a task. @returns what its end says of the order */
  end(task: PublishedTask): JsonObject {
    const { ends = "completed" } = task.scenario;
    if (task.result !== undefined) return task.result;
    task.status = ends;
    task.result =
      ends === "completed"
        ? this.complete(this.booked(task.request)).payload!
        : this.failure("PRODUCT_UNAVAILABLE", { message: "The order did not come about" }).payload!;
    return task.result;
  }

  private poll({ task_id: id }: JsonObject): PlayedAnswer {
    const task = this.tasks.get(String(id));
    if (task === undefined) return this.failure("REFERENCE_NOT_FOUND", { field: "task_id", message: "no such task" });
    const { now } = this.options;
    const over = task.result !== undefined;
    if (!over) {
      if (task.left <= 0) this.end(task);
      else task.left -= 1;
      if (task.result === undefined) task.status = "working";
    }
    if (task.result !== undefined) task.toldAt ??= now();
    const { status, result } = task;
    const error = Array.isArray(result?.errors) && isJsonObject(result.errors[0]) ? result.errors[0] : undefined;
    const at = new Date(now()).toISOString();
    return {
      payload: {
        ...{ task_id: task.id, task_type: "create_media_buy", protocol: "media-buy", status },
        ...{ created_at: new Date(task.createdAt).toISOString(), updated_at: at },
        ...(result !== undefined && error === undefined && { completed_at: at, result }),
        ...(error !== undefined && { completed_at: at, error }),
      },
    };
  }

  private complete(payload: JsonObject): PlayedAnswer {
    const { envelope } = this.options.release.facts;
    return { payload: { ...(envelope.status.value === "task" && { status: "completed" }), ...payload } };
  }

  private refused(scenario: Scenario): PlayedAnswer {
    const { error_code: code = "SERVICE_UNAVAILABLE", http_status: status, retry_after, message } = scenario;
    const challenge = scenario.www_authenticate;
    return {
      ...this.failure(code, { ...(retry_after && { retry_after }), message: message ?? code }),
      ...(status === 401 && { status, headers: { "www-authenticate": challenge ?? "Bearer" } }),
    };
  }

  private failure(code: string, more: JsonObject): PlayedAnswer {
    const { errors, word, facts, defaultUnknownRecovery } = this.options.release;
    const known = Object.hasOwn(errors, code) ? errors[code]?.recovery : undefined;
    // A code of a fixture's own that says when to come again is one to come again for.
    const recovery = known ?? (more.retry_after === undefined ? defaultUnknownRecovery : "transient");
    const error = { code, message: code, recovery, ...more };
    const status = facts.envelope.status.value === "task" ? { status: "failed" } : {};
    return { payload: { ...status, errors: [error], [wireNames(word).error]: error }, failed: true };
  }
}
