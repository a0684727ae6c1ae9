/** A buyer's life at a seller: what is there is found, ordered, filled, changed, reported and given up. */
import { hash, randomUUID } from "node:crypto";
import canonicalize from "canonicalize";
import type { Json } from "../../generator/model/shape.js";
import type { Buyer } from "../../runtime/buyer/index.js";
import { Sampler } from "../../runtime/conformance/check/sample.js";
import type { Failure, JsonObject, Release } from "../../runtime/contract/index.js";
import type { AnyValidator } from "../../runtime/validate/index.js";
import { type JsonRecord, Known } from "../support/known.js";
import { ASSETS, BRAND, BUDGET, day, fullerFirst, hollowness, meant, OPERATOR, PLAN, type Row, rows } from "./asked.js";

export interface LifeOptions {
  readonly buyer: Buyer;
  readonly release: Release;
  readonly validator: AnyValidator;
  readonly specialism: string;
}

export interface Lived {
  /** Tools that were answered by their completed or submitted arm. */
  readonly answered: readonly string[];
  /** What went wrong, by tool. */
  readonly failures: ReadonlyMap<string, string>;
}

/** What takes another agent: one that is asked, and one that agrees. */
const NOT_ALONE = ["sync_governance", "report_plan_adjustment"];
const SELLER = "https://seller.example";

/** Tools in the order of a life; those that nothing is said of come last. */
const ORDER = [
  ..."sync_accounts list_accounts sync_governance sync_plans check_governance get_products list_products".split(" "),
  ..."list_creative_formats list_transformers get_signals activate_signal sync_event_sources sync_audiences".split(" "),
  ..."sync_catalogs build_creative preview_creative sync_creatives list_creatives create_media_buy".split(" "),
  ..."get_media_buys update_media_buy get_media_buy_delivery create_property_list create_collection_list".split(" "),
  ..."create_content_standards list_content_standards get_rights get_brand_identity acquire_rights".split(" "),
  ..."si_get_offering si_initiate_session si_send_message si_terminate_session".split(" "),
];
/** After everything else. */
const LAST = "report_plan_outcome report_plan_adjustment delete_property_list delete_collection_list".split(" ");
/** What a tool's life takes beside it: what tells of what it names, and what comes after. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  create_media_buy: [
    ...["get_products", "list_creative_formats", "sync_creatives", "get_media_buys", "update_media_buy"],
    "get_media_buy_delivery",
  ],
  sync_creatives: ["list_creative_formats"],
  build_creative: ["list_creative_formats"],
  preview_creative: ["list_creative_formats", "build_creative"],
  activate_signal: ["get_signals"],
  get_signals: ["activate_signal"],
  check_governance: ["sync_plans"],
  get_brand_identity: ["get_rights"],
  log_event: ["sync_event_sources"],
};

class Life {
  readonly known = new Known();
  readonly answered: string[] = [];
  readonly failures = new Map<string, string>();
  #told = new Map<string, JsonObject>();

  constructor(
    readonly options: LifeOptions,
    readonly sampler: Sampler,
  ) {}

  async live(tools: readonly string[]): Promise<void> {
    for (const tool of tools) {
      await this.#step(tool, tool);
      if (tool === "create_media_buy" && tools.includes("get_task_status")) await this.#step("later", tool);
    }
    if (this.#told.has("create_media_buy") && tools.includes("update_media_buy"))
      await this.#step("cancel", "update_media_buy");
    if (this.#told.get("check_governance")?.governance_context !== undefined)
      await this.#step("monitor", "check_governance");
  }

  async #step(step: string, tool: string): Promise<void> {
    let last = "no valid request could be made";
    for (const request of this.#requests(step, tool)) {
      const called = await this.options.buyer.call(tool, request, { webhook: false });
      const { answer } = called;
      if (answer.status === "completed" || answer.status === "submitted") {
        if (answer.taskId !== undefined) this.known.note({ task_id: answer.taskId });
        const signal = AbortSignal.timeout(20_000);
        const ended = answer.status === "submitted" ? await called.waitForCompletion({ signal }) : answer;
        const hollow = hollowness(step, ended.data as JsonObject);
        if (hollow !== undefined) {
          last = hollow;
          continue;
        }
        this.known.note(ended.data as Json);
        this.#told.set(step, ended.data as JsonObject);
        this.answered.push(tool);
        this.failures.delete(step);
        return;
      }
      const [error] = answer.status === "failed" ? (answer.data as Failure).errors : [];
      last = `${answer.status} ${error?.code}: ${error?.message} ${error?.field ?? ""}`;
    }
    this.failures.set(step, last.slice(0, 300));
  }

  /** Requests that are valid, the likeliest first. */
  *#requests(step: string, tool: string): Iterable<JsonObject> {
    const { release, validator } = this.options;
    const made = this.#made(step);
    // What is changed is what was made last.
    const text = (some: readonly string[]): string | undefined => some.at(tool.startsWith("update_") ? -1 : 0);
    const samples = [...this.sampler.requests(release.tools[tool]!.request)].sort(fullerFirst);
    const referring = (one: unknown): JsonObject => meant(this.known.referring(one as Json, { text })) as JsonObject;
    const candidates = made.length > 0 ? made : samples.map(referring);
    for (const one of candidates)
      for (const account of [this.#account, undefined]) {
        const whole = { ...one, ...(account !== undefined && { account }), idempotency_key: randomUUID() };
        const { idempotency_key: _key, ...bare } = whole;
        // Where there is no key for a tool it is no member; closed requests say so.
        const request = validator.request(tool, bare).ok ? bare : whole;
        if (validator.request(tool, request).ok) yield bare;
      }
  }

  get #account(): JsonObject | undefined {
    const [id] = this.known.of("account_id");
    return id === undefined ? { brand: BRAND, operator: OPERATOR } : { account_id: id };
  }

  /** What a person would ask, where the smallest request says too little; several where releases differ. */
  #made(step: string): JsonObject[] {
    switch (step) {
      case "sync_accounts":
        return [{ accounts: [{ brand: BRAND, operator: OPERATOR, billing: "operator" }] }];
      case "get_products":
        return [
          { buying_mode: "brief", brief: "Outdoor gear, video and display, US.", brand: BRAND },
          { brief: "Outdoor gear.", brand: BRAND },
        ];
      case "get_signals":
        return [
          { signal_spec: "people who like the outdoors" },
          { discovery_mode: "brief", signal_spec: "people who like the outdoors" },
        ];
      case "create_media_buy":
        return this.#orders(BUDGET);
      case "later":
        return this.#orders(6 * BUDGET);
      case "get_task_status":
        return this.known
          .of("task_id")
          .slice(-1)
          .map((task_id) => ({ task_id }));
      case "comply_test_controller":
        return [{ scenario: "list_scenarios", account: { sandbox: true } }, { scenario: "list_scenarios" }];
      case "sync_event_sources":
        return [{ event_sources: [{ event_source_id: "shop", name: "The shop" }] }];
      case "update_media_buy":
        return this.#changes({ paused: true });
      case "cancel":
        return this.#changes({ canceled: true, cancellation_reason: "the season is over" }, { canceled: true });
      case "get_media_buy_delivery":
      case "get_media_buys":
        return [{ media_buy_ids: this.known.of("media_buy_id").slice(-1) }];
      case "sync_creatives":
        return this.#uploads();
      case "preview_creative":
        return this.#previews();
      case "si_get_offering":
        return [{ offering_id: "novamotors_conversational_v1" }];
      case "sync_plans":
        return [{ plans: [PLAN] }];
      case "check_governance":
        return this.#actions();
      case "monitor":
        return this.#deliveries();
      case "build_creative":
        return this.#builds();
      default:
        return [];
    }
  }

  /** @param total in the currency of the product; large orders of what is guaranteed wait for a signature */
  #orders(total: number): JsonObject[] {
    const products = rows((this.#told.get("get_products") ?? this.#told.get("list_products"))?.products);
    return products.slice(0, 3).flatMap((product) => {
      const [option] = rows(product.pricing_options);
      if (option === undefined) return [];
      const bid = option.fixed_price === undefined ? { bid_price: Number(option.floor_price ?? 5) + 5 } : {};
      const budget = Math.max(total, Number(option.min_spend_per_package ?? 0));
      const line = { product_id: product.product_id, pricing_option_id: option.pricing_option_id, budget, ...bid };
      return [{ brand: BRAND, start_time: day(2), end_time: day(32), packages: [line] }];
    }) as JsonObject[];
  }

  /** What is to be bought, before it is: as releases have it that name whom it is bought from, and as those that do not. */
  #actions(): JsonObject[] {
    const { plan_id } = PLAN;
    const total_budget = { amount: BUDGET, currency: "USD" };
    const payload = { brand: BRAND, total_budget, start_time: day(2), end_time: day(32) };
    const intent = { plan_id, caller: "https://buyer.example", tool: "create_media_buy", payload };
    return [{ ...intent, target_agent: SELLER }, intent];
  }

  /** What became of it, as the seller tells whoever let it go ahead. */
  #deliveries(): JsonObject[] {
    const governance_context = this.#told.get("check_governance")?.governance_context;
    const { plan_id } = PLAN;
    const figures = { reporting_period: { start: day(2), end: day(9) }, spend: 2_000, cumulative_spend: 2_000 };
    const delivery = { caller: SELLER, phase: "delivery", governance_context };
    const planned_delivery = { media_buy_id: "mb_1", total_budget: BUDGET, currency: "USD", channels: ["display"] };
    const said = { statement_id: "statement_0001", sequence: 1, issued_at: day(10), currency: "USD", ...figures };
    // Releases that have statements tell by a digest what each was.
    const text = canonicalize({ seller_reference: planned_delivery.media_buy_id, delivery_metrics: said })!;
    const statement_digest = `sha256:${hash("sha256", text)}`;
    return [
      { ...delivery, planned_delivery, delivery_metrics: { ...said, statement_digest } },
      { ...delivery, plan_id, delivery_metrics: figures },
    ] as JsonObject[];
  }

  #changes(...changes: JsonObject[]): JsonObject[] {
    const media_buy_id = this.known.of("media_buy_id").at(-1);
    return changes.map((change) => ({ media_buy_id, ...change }));
  }

  get #formats(): Row[] {
    return rows(this.#told.get("list_creative_formats")?.formats);
  }

  /** A creative of each format, with all that its format wants. */
  #uploads(): JsonObject[] {
    return this.#formats.flatMap((format) => {
      const wanted = rows(format.assets).filter(
        ({ required, asset_type: type }) => required === true && ASSETS[String(type)],
      );
      if (wanted.length === 0) return [];
      return [{}, { typed: true }].map(({ typed }: { typed?: boolean }) => {
        const assets = wanted.map(({ asset_id, asset_type, requirements }) => {
          const { width, height, min_duration_ms: duration_ms } = (requirements ?? {}) as JsonRecord;
          const own = {
            ...ASSETS[String(asset_type)],
            ...(width && { width }),
            ...(height && { height }),
            ...(duration_ms && { duration_ms }),
          };
          return [String(asset_id), typed ? { asset_type, ...own } : own] as const;
        });
        const creative = {
          creative_id: `creative_${randomUUID()}`,
          name: "A creative",
          format_id: format.format_id,
          assets: Object.fromEntries(assets),
        };
        return { creatives: [creative] };
      });
    }) as JsonObject[];
  }

  /** What was built is looked at, or what is to be uploaded. */
  #previews(): JsonObject[] {
    const built = this.#told.get("build_creative")?.creative_manifest as JsonObject | undefined;
    const uploads = this.#uploads().map(({ creatives }) => (creatives as JsonObject[])[0]!);
    const manifests = uploads.map(({ format_id, assets }) => ({ format_id, assets }));
    const all = [...(built === undefined ? [] : [built]), ...manifests];
    return all.map((one) => ({ request_type: "single", creative_manifest: one })) as JsonObject[];
  }

  #builds(): JsonObject[] {
    const message = "A banner for outdoor gear.";
    return this.#formats.map((format) => ({
      message,
      brand: BRAND,
      target_format_id: format.format_id,
    })) as JsonObject[];
  }
}

/** @throws Error for an agent that is not there */
export async function live(options: LifeOptions): Promise<Lived> {
  const { buyer, release, specialism } = options;
  const { protocol, entryPoints: named, exercised } = release.specialisms[specialism]!;
  // What names no tool begins with those of its protocol.
  const own = Object.values(release.tools).filter((tool) => tool.protocol === protocol);
  const entryPoints = named.length > 0 ? named : own.map(({ name }) => name);
  const listed = new Set(await buyer.listed());
  const asked = [...entryPoints, ...exercised.filter((tool) => !NOT_ALONE.includes(tool))];
  const wanted = new Set([...asked, ...asked.flatMap((tool) => BESIDE[tool] ?? []), "sync_accounts"]);
  const rank = (tool: string): number =>
    ORDER.includes(tool) ? ORDER.indexOf(tool) : ORDER.length + 1 + LAST.indexOf(tool);
  const tools = [...wanted]
    .filter((tool) => listed.has(tool) && !/_capabilities$/.test(tool))
    .sort((a, b) => rank(a) - rank(b));
  const life = new Life(options, new Sampler(await release.schemas()));
  await life.live(tools);
  for (const tool of entryPoints)
    if (!life.answered.includes(tool) && !life.failures.has(tool) && !/_capabilities$/.test(tool))
      life.failures.set(tool, listed.has(tool) ? "it was not asked" : "not offered");
  return { answered: life.answered, failures: life.failures };
}
