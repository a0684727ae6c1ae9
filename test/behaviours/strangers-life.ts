/** One buyer's life with a seller of everything: something of each sort that a buyer can have there. */
import type { JsonObject, Release } from "../../runtime/contract/index.js";
import { account, brand, type TestSeller } from "./behaving-seller.js";
import { idName, type requestsOf } from "./every-tool.js";
import { GOVERNED_URL, packagesOver, spendingPlan } from "./governed-seller.js";

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool
type Answer = any;

/** One call of the life: what it asks, by what was answered before. */
type Step = readonly [tool: string, request: (at: Readonly<Record<string, Answer>>) => JsonObject, label?: string];

const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
const banner = {
  ...{ creative_id: "secret_banner", name: "Banner", format_id: { agent_url: GOVERNED_URL, id: "display_300x250" } },
  assets: { image: { asset_type: "image", url: "https://x.example/i.png", width: 300, height: 250 } },
};
const domains = [{ selection_type: "identifiers", identifiers: [{ type: "domain", value: "a.example" }] }];
const policies = [{ policy_id: "p", policy: "No gambling content.", enforcement: "must" }];

/** Rights that everybody finds, and may have. */
const LICENSED = "acme_trail_imagery";

export const life: readonly Step[] = [
  ["sync_accounts", () => ({ accounts: [{ ...account, billing: "operator" }] })],
  ["sync_plans", () => ({ plans: [spendingPlan(50_000, { plan_id: "secret_plan" })] })],
  [
    "sync_audiences",
    () => ({
      account,
      audiences: [
        { audience_id: "secret_audience", name: "A", add: [{ external_id: "u1", hashed_email: "a".repeat(64) }] },
      ],
    }),
  ],
  [
    "sync_event_sources",
    () => ({ account, event_sources: [{ event_source_id: "secret_source", name: "Shop", event_types: ["purchase"] }] }),
  ],
  [
    "sync_catalogs",
    () => ({
      account,
      catalogs: [{ catalog_id: "secret_catalog", type: "product", items: [{ item_id: "1", title: "Shoe" }] }],
    }),
  ],
  ["create_property_list", () => ({ account, name: "Secret list", base_properties: domains })],
  ["create_collection_list", () => ({ account, name: "Secret collections" })],
  ["create_content_standards", () => ({ account, scope: { languages_any: ["en"], description: "Secret" }, policies })],
  ["create_media_buy", () => ({ account, brand, ...flight, packages: packagesOver(1_000) })],
  ["get_products", () => ({ buying_mode: "brief", brief: "Display", account })],
  ["get_account_financials", () => ({ account })],
  // Somebody has to sign for it first: that is a task.
  [
    "create_media_buy",
    () => ({
      account,
      brand,
      ...flight,
      packages: [{ product_id: "outdoor_ctv_q2", pricing_option_id: "cpm_standard", budget: 50_000 }],
    }),
    "waiting",
  ],
  ["create_media_buy", () => ({ account, brand, ...flight, packages: packagesOver(2_000) }), "second"],
  ["get_media_buys", () => ({ pagination: { max_results: 1 } }), "page"],
  ["get_task_status", ({ waiting: { task_id } }) => ({ task_id })],
  ["request_proposals", () => ({ brand, brief: "USD 4,000 of video from January 5 through March 31, 2099." })],
  [
    "sync_creatives",
    ({ create_media_buy: { packages } }) => ({
      account,
      creatives: [banner],
      assignments: [{ creative_id: banner.creative_id, package_id: packages[0].package_id }],
    }),
  ],
  ["get_media_buys", ({ create_media_buy: { media_buy_id } }) => ({ media_buy_ids: [media_buy_id] })],
  ["get_media_buy_delivery", ({ create_media_buy: { media_buy_id } }) => ({ media_buy_ids: [media_buy_id] })],
  ["get_media_buy_artifacts", ({ create_media_buy: { media_buy_id } }) => ({ media_buy_id })],
  ["list_creatives", () => ({ filters: { creative_ids: [banner.creative_id] } })],
  ["get_creative_delivery", () => ({ account, creative_ids: [banner.creative_id] })],
  ["preview_creative", () => ({ request_type: "single", creative_id: banner.creative_id })],
  [
    "build_creative",
    () => ({
      account,
      message: "A banner. Headline 'Sleep'",
      target_format_id: { agent_url: "https://creative.example", id: "display_300x250_generative" },
    }),
  ],
  [
    "log_event",
    () => ({
      event_source_id: "secret_source",
      events: [
        {
          event_id: "e1",
          event_type: "purchase",
          event_time: "2026-03-01T00:00:00Z",
          action_source: "website",
          custom_data: { value: 1, currency: "USD" },
        },
      ],
    }),
  ],
  ["get_property_list", ({ create_property_list: { list } }) => ({ list_id: list.list_id })],
  [
    "validate_property_delivery",
    ({ create_property_list: { list } }) => ({
      list_id: list.list_id,
      records: [{ record_id: "r1", identifier: { type: "domain", value: "a.example" }, impressions: 1 }],
    }),
  ],
  ["get_collection_list", ({ create_collection_list: { list } }) => ({ list_id: list.list_id })],
  ["get_content_standards", ({ create_content_standards: { standards_id } }) => ({ standards_id })],
  [
    "calibrate_content",
    ({ create_content_standards: { standards_id } }) => ({
      standards_id,
      artifact: { property_rid: "site.example", artifact_id: "a", assets: [{ type: "text", content: "calm" }] },
    }),
  ],
  [
    "validate_content_delivery",
    ({ create_content_standards: { standards_id } }) => ({
      standards_id,
      records: [
        {
          record_id: "1",
          artifact: { property_rid: "site.example", artifact_id: "a", assets: [{ type: "text", content: "calm" }] },
        },
      ],
    }),
  ],
  [
    "check_governance",
    () => ({
      plan_id: "secret_plan",
      caller: "https://buyer.example",
      tool: "create_media_buy",
      payload: { packages: packagesOver(100) },
      target_agent: GOVERNED_URL,
      proposed_commitment: { amount: 100, currency: "USD" },
    }),
  ],
  [
    "report_plan_outcome",
    ({ check_governance: { check_id, governance_context } }) => ({
      plan_id: "secret_plan",
      check_id,
      governance_context,
      outcome: "completed",
      seller_response: { seller_reference: "mb_1", committed_budget: 100 },
    }),
  ],
  ["get_plan_audit_logs", () => ({ plan_ids: ["secret_plan"] })],
  [
    "activate_signal",
    () => ({
      ...{ account, signal_agent_segment_id: "prism_high_ltv", pricing_option_id: "po_prism_flat_monthly" },
      destinations: [{ type: "agent", agent_url: "https://agent.example" }],
    }),
  ],
  [
    "si_initiate_session",
    () => ({ intent: "Long road trips", identity: { consent_granted: true, user: { locale: "en-US" } } }),
  ],
  ["si_send_message", ({ si_initiate_session: { session_id } }) => ({ session_id, message: "Tell me more" })],
  [
    "acquire_rights",
    () => ({
      rights_id: LICENSED,
      pricing_option_id: "trail_imagery_monthly",
      buyer: { domain: "pinnacle.example" },
      campaign: { description: "Summer", uses: ["ai_generated_image"], start_date: day(-3), end_date: day(30) },
      revocation_webhook: { url: "https://pinnacle.example/revoked" },
    }),
  ],
  [
    "provide_performance_feedback",
    ({ create_media_buy: { media_buy_id } }) => ({
      media_buy_id,
      performance_index: 1,
      measurement_period: { start: "2026-01-01T00:00:00Z", end: "2026-02-01T00:00:00Z" },
    }),
  ],
];

/** Ids by what they are of. */
export type Pool = Map<string, Set<string>>;

/** What everybody may know, and name: the seller's own things, and what is said of the world. */
export const shared: ReadonlySet<string> = new Set([
  ...["product_id", "pricing_option_id", "format_option_id", "offering_id", "brand_id", "policy_id", "feature_id"],
  ...["placement_id", "property_id", "collection_id", "item_id", "segment_id", "transformer_id", "publisher_id"],
  ...[
    "signal_agent_segment_id",
    "category_id",
    "preview_id",
    "render_id",
    "record_id",
    "artifact_id",
    "event_id",
    "external_id",
    "request_id",
    "data_provider_id",
    "id",
  ],
]);

/** Gathers ids in what was asked or answered; a `governance_context` is none: it is given to sellers, who ask by it. */
export function gather(pool: Pool, value: unknown, name = ""): void {
  if (Array.isArray(value)) for (const one of value) gather(pool, one, name);
  else if (typeof value === "object" && value !== null)
    for (const [member, one] of Object.entries(value)) gather(pool, one, idName(member));
  else if (typeof value === "string" && value.length > 5 && !shared.has(name) && value !== LICENSED)
    if (/_id$|^(cursor|auth_token|offering_token)$/.test(name))
      pool.set(name, (pool.get(name) ?? new Set()).add(value));
}

/** Lives it, as far as the release has it. @returns the ids of what came of it, the requests, and what was refused */
export async function lived(
  { ask }: TestSeller,
  principal: string,
  { tools }: Pick<Release, "tools">,
  { keyed, fitted }: Pick<Awaited<ReturnType<typeof requestsOf>>, "keyed" | "fitted">,
) {
  const pool: Pool = new Map();
  const answers: Record<string, Answer> = {};
  const requests = new Map<string, JsonObject>();
  const refused: string[] = [];
  for (const [tool, request, label = tool] of life) {
    const asked = Object.hasOwn(tools, tool) ? fitted(tool, request(answers)) : undefined;
    if (asked === undefined) continue;
    try {
      answers[label] = await ask(tool, keyed(tool, asked), principal);
      if (!requests.has(tool)) requests.set(tool, asked);
      gather(pool, asked);
      gather(pool, answers[label]);
    } catch (error) {
      refused.push(`${label}: ${(error as Error).message}`);
    }
  }
  return { pool, requests, refused };
}
