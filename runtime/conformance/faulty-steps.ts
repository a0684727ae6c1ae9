/** The lists of published steps that do not say what their text says. Data only; a hash holds each to the text it is about. */

export interface FaultyStep {
  /** Version of the suite it was seen in; it holds for the same step in suites of the same line. */
  readonly release: string;
  readonly storyboard: string;
  readonly step: string;
  /** Hash of the step as published: a suite that mends it is judged by what it then says. */
  readonly hash: string;
  /** The sentence of the published text that the step contradicts, and where it stands. */
  readonly contradicts: string;
  /** The one check that is at fault, by the pointer it looks at: all others are held to. Undefined: the whole step. */
  readonly pointer?: string;
  /** The same, by the check's name. */
  readonly check?: string;
  /** Whether the fault shows depends on the agent or its state: the step may pass. */
  readonly sometimes?: true;
}

const noPreviewThere =
  "creative/preview-render.json: preview_html is of a render, in preview.previews[].renders[] of what build_creative answers; core/creative-manifest.json has none, and the step looks for it there";

const otherFormatField =
  "creative/preview-creative-request.json: output_format says whether a preview is a url or html, and is a url by default; the step asks for html by another name, format, which is no field of the request";

const noPlanNamed =
  "governance/check-governance-request.json: plan_id is required, and the step gives the seller neither a plan nor a governance_context to ask the governance agent about; only a seller that keeps the plan itself can know of it";

export const faultySteps: readonly FaultyStep[] = [
  {
    release: "3.0.26",
    storyboard: "media_buy_seller",
    step: "sync_creatives",
    hash: "eff3f60fa495",
    contradicts:
      "creative/sync-creatives-request.json: validation_mode is strict by default, which fails the entire sync on any validation error; the step sends a video of 30 seconds under the first format of the first product found, which may take shorter ones, and asks for its success",
    sometimes: true,
  },
  {
    release: "3.0.26",
    storyboard: "media_buy_seller/governance_denied",
    step: "create_media_buy_denied",
    hash: "fe20589d13e4",
    contradicts: noPlanNamed,
    sometimes: true,
  },
  {
    release: "3.0.26",
    storyboard: "media_buy_seller/governance_denied_recovery",
    step: "create_media_buy_denied",
    hash: "9353309de0f3",
    contradicts: noPlanNamed,
    sometimes: true,
  },
  {
    release: "3.0.4",
    storyboard: "brand_rights",
    step: "acquire_rights",
    hash: "4dfa79286d26",
    contradicts:
      "brand/acquire-rights-response.json: what is acquired is named by rights_id, and there is no rights_grant_id, which the step takes from the answer",
    pointer: "/rights_grant_id",
  },
  {
    release: "3.0.4",
    storyboard: "sales_guaranteed",
    step: "create_media_buy",
    hash: "da07b19d8b05",
    contradicts:
      'of the step itself: "Do NOT return media_buy_id or packages yet"; it takes the media_buy_id from that answer',
    pointer: "/media_buy_id",
    sometimes: true,
  },
  {
    release: "3.0.6",
    storyboard: "brand_baseline",
    step: "get_brand_identity_unknown",
    hash: "eb103cf81cb8",
    contradicts:
      "enums/error-code.json: what lacks a not-found code of its own, as brands do, MUST be told by REFERENCE_NOT_FOUND and not by a custom one; the step takes custom codes alone",
    check: "error_code",
  },
  {
    release: "3.0.6",
    storyboard: "idempotency",
    step: "no_duplicate_webhooks_on_replay",
    hash: "f988072d6054",
    contradicts:
      'of the step itself: "At most one logical webhook event"; it fails where none comes, of an order that may be answered in full, which no webhook follows',
    check: "webhook_received",
    sometimes: true,
  },
  {
    release: "3.0.6",
    storyboard: "media_buy_seller/governance_denied",
    step: "create_media_buy_denied",
    hash: "7723fef1de88",
    contradicts: noPlanNamed,
    sometimes: true,
  },
  {
    release: "3.0.6",
    storyboard: "media_buy_seller/governance_denied_recovery",
    step: "create_media_buy_denied",
    hash: "c0711f1c6f0b",
    contradicts: noPlanNamed,
    sometimes: true,
  },
  {
    release: "3.0.6",
    storyboard: "signal_marketplace/governance_denied",
    step: "activate_signal_denied",
    hash: "925adf31f549",
    contradicts: noPlanNamed,
    sometimes: true,
  },
  {
    release: "3.0.6",
    storyboard: "brand_rights/governance_denied",
    step: "acquire_rights_denied",
    hash: "91310c4ce6ff",
    contradicts:
      "enums/error-code.json: a denial by governance MUST be placed in the task's structured rejection arm when one exists, as acquire_rights has; the step asks for an error instead, and for dates that have passed",
    sometimes: true,
  },
  {
    release: "3.0.26",
    storyboard: "sales_broadcast_tv",
    step: "expect_window_update_webhook",
    hash: "308d58a64c31",
    contradicts:
      "media-buy/create-media-buy-request.json: push_notification_config is for async task status notifications, and reporting_webhook for automated reporting delivery; the storyboard registers the former alone, and awaits a report of an order that was answered in full and does not run yet",
    sometimes: true,
  },
  {
    release: "3.1.19",
    storyboard: "creative_lifecycle",
    step: "list_all",
    hash: "0fa808e391cc",
    contradicts:
      'of the step itself: "At least one creative from the sync phase"; its check takes the first of the library for it, where seeds of earlier storyboards for the same account may stand',
    pointer: "/creatives/0/creative_id",
    sometimes: true,
  },
  {
    release: "3.0.26",
    storyboard: "creative_generative",
    step: "expect_substitution_safe",
    hash: "9978d0e7d0a3",
    contradicts: noPreviewThere,
  },
  {
    release: "3.1.19",
    storyboard: "creative_generative",
    step: "expect_substitution_safe",
    hash: "9978d0e7d0a3",
    contradicts: noPreviewThere,
  },
  {
    release: "3.2.0-beta.4",
    storyboard: "creative_generative",
    step: "expect_substitution_safe",
    hash: "9978d0e7d0a3",
    contradicts: noPreviewThere,
  },
  {
    release: "3.0.26",
    storyboard: "sales_catalog_driven",
    step: "expect_substitution_safe",
    hash: "c6b7f7bc0332",
    contradicts: noPreviewThere,
  },
  {
    release: "3.1.19",
    storyboard: "sales_catalog_driven",
    step: "expect_substitution_safe",
    hash: "c6b7f7bc0332",
    contradicts: noPreviewThere,
  },
  {
    release: "3.2.0-beta.4",
    storyboard: "sales_catalog_driven",
    step: "expect_substitution_safe",
    hash: "c6b7f7bc0332",
    contradicts: noPreviewThere,
  },
  {
    release: "3.1.19",
    storyboard: "sales_social",
    step: "preview_substitution_probe_creative",
    hash: "834db6fc52c0",
    contradicts: otherFormatField,
    pointer: "/previews/0/renders/0/preview_html",
  },
  {
    release: "3.2.0-beta.4",
    storyboard: "sales_social",
    step: "preview_substitution_probe_creative",
    hash: "b32f7c546188",
    contradicts: otherFormatField,
    pointer: "/previews/0/renders/0/preview_html",
  },
  {
    release: "3.1.19",
    storyboard: "signals_baseline/get_signals_async",
    step: "complete_signals_task",
    hash: "013ac18d3465",
    contradicts:
      'core/signal-id.json: the source of a signal is catalog or agent; the step asks for a "schema-valid get-signals result payload", and gives one whose signal_id has the source agent_native and no agent_url',
  },
  {
    release: "3.0.26",
    storyboard: "pagination_integrity_creative_formats",
    step: "terminal_page",
    hash: "73b277076983",
    contradicts:
      'media-buy/list-creative-formats-response.json: "Full format definitions for all formats this agent supports"; the step takes the two that were seeded for all there are, and asks for no others by name',
    sometimes: true,
  },
  {
    release: "3.2.4",
    storyboard: "reporting_core",
    step: "exact_nonempty_reject_mixed_selector",
    hash: "e28271daafb3",
    contradicts:
      'manifest.json: INVALID_REQUEST is for what "violates schema constraints", VALIDATION_ERROR for what is "beyond schema validation"; media-buy/get-media-buy-delivery-request.json itself refuses the two selectors together',
    pointer: "/errors/0/code",
    sometimes: true,
  },
];

/** Steps whose text takes a structured error as well as a success, and that have no mark for it. */
export interface EitherStep {
  readonly storyboard: string;
  readonly step: string;
  readonly hashes: readonly string[];
  /** The sentence that says so. */
  readonly says: string;
}

export const eitherSteps: readonly EitherStep[] = [
  {
    storyboard: "error_compliance",
    step: "missing_fields",
    hashes: ["ae4384753304", "217b273264e3"],
    says: "Either return products or return a structured error. Both are valid.",
  },
  {
    storyboard: "media_buy_seller/read_filter_behavior",
    step: "reject_empty_delivery_range",
    hashes: ["96a559efcaf9"],
    says: "Reject the empty half-open interval with the documented VALIDATION_ERROR classification.",
  },
];
