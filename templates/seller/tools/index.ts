/** Every tool with a reference behaviour, by its name on the wire. */
import { activateSignal } from "./activate-signal.js";
import { buildCreative } from "./build-creative.js";
import { checkGovernance } from "./check-governance.js";
import { complyTestController } from "./comply-test-controller.js";
import { createMediaBuy } from "./create-media-buy.js";
import { getAccountFinancials } from "./get-account-financials.js";
import { getCreativeDelivery } from "./get-creative-delivery.js";
import { getMediaBuyDelivery } from "./get-media-buy-delivery.js";
import { getMediaBuys } from "./get-media-buys.js";
import { getPlanAuditLogs } from "./get-plan-audit-logs.js";
import { getProducts } from "./get-products.js";
import { getSignals } from "./get-signals.js";
import { listAccounts } from "./list-accounts.js";
import { listCreativeFormats } from "./list-creative-formats.js";
import { listCreatives } from "./list-creatives.js";
import { logEvent } from "./log-event.js";
import { previewCreative } from "./preview-creative.js";
import { providePerformanceFeedback } from "./provide-performance-feedback.js";
import { reportPlanOutcome } from "./report-plan-outcome.js";
import { reportUsage } from "./report-usage.js";
import { syncAccounts } from "./sync-accounts.js";
import { syncAudiences } from "./sync-audiences.js";
import { syncCatalogs } from "./sync-catalogs.js";
import { syncCreatives } from "./sync-creatives.js";
import { syncEventSources } from "./sync-event-sources.js";
import { syncGovernance } from "./sync-governance.js";
import { syncPlans } from "./sync-plans.js";
import { updateMediaBuy } from "./update-media-buy.js";

export const tools = {
  activate_signal: activateSignal,
  build_creative: buildCreative,
  check_governance: checkGovernance,
  comply_test_controller: complyTestController,
  create_media_buy: createMediaBuy,
  get_creative_delivery: getCreativeDelivery,
  get_media_buy_delivery: getMediaBuyDelivery,
  get_media_buys: getMediaBuys,
  get_plan_audit_logs: getPlanAuditLogs,
  get_products: getProducts,
  get_signals: getSignals,
  list_accounts: listAccounts,
  list_creative_formats: listCreativeFormats,
  list_creatives: listCreatives,
  preview_creative: previewCreative,
  report_plan_outcome: reportPlanOutcome,
  report_usage: reportUsage,
  sync_accounts: syncAccounts,
  sync_creatives: syncCreatives,
  sync_governance: syncGovernance,
  sync_plans: syncPlans,
  update_media_buy: updateMediaBuy,
  sync_catalogs: syncCatalogs,
  sync_audiences: syncAudiences,
  sync_event_sources: syncEventSources,
  log_event: logEvent,
  get_account_financials: getAccountFinancials,
  provide_performance_feedback: providePerformanceFeedback,
};
