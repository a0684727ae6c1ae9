/**
 * Storyboards for buyers: no published suite of ours to date has any. They are written in the published form, with scenarios
 * named by their phases, and say of themselves that they are unpublished.
 */
import type { JsonObject } from "../../contract/index.js";
import type { Storyboard, StoryboardCheck, StoryboardStep } from "../document.js";
import type { Scenario } from "./types.js";

const account = { brand: { domain: "acmeoutdoor.example" }, operator: "pinnacle-agency.example" };

const order = (budget = 25_000): JsonObject => ({
  idempotency_key: "$generate:uuid_v4",
  account,
  brand: account.brand,
  start_time: "asap",
  end_time: "2099-12-31T23:59:59Z",
  packages: [{ product_id: "display_auction", budget, bid_price: 6, pricing_option_id: "cpm_auction" }],
});

const products = [
  {
    product_id: "display_auction",
    name: "Display, auctioned",
    description: "Display on outdoor sites, by auction",
    delivery_type: "non_guaranteed",
    channels: ["display"],
    publisher_properties: [{ publisher_domain: "publisher.example", selection_type: "all" }],
    format_ids: [{ agent_url: "https://formats.example/mcp", id: "display_300x250" }],
    pricing_options: [{ pricing_option_id: "cpm_auction", pricing_model: "cpm", currency: "USD", floor_price: 5 }],
  },
];

const check = (kind: string, description: string, more: JsonObject = {}): StoryboardCheck => ({
  check: kind,
  description,
  ...more,
});

/** What is asked of every order. */
const sound: readonly StoryboardCheck[] = [
  check("request_schema", "The order keeps the release's schema"),
  check("request_field_format", "Its key is a UUID, version 4", { path: "idempotency_key", format: "uuid_v4" }),
];

const pause = "Once the order is completed, and not before, pause it with update_media_buy (paused: true), once.";
const noPause = "Where it does not come about, leave it at that: pause nothing.";

/** The effect that an order's end has: a call, so that it can be seen. */
const paused: StoryboardStep = {
  id: "pause",
  title: "Act on the end of the order",
  task: "update_media_buy",
  expected:
    "The buyer acts on the order's end once, with the id that the seller gave it, and not before it was told of the end.",
  validations: [
    check("task_calls", "The order is paused once", { task: "update_media_buy", min: 1, max: 1 }),
    check("request_field_genuine", "It is the order that the seller booked", { path: "media_buy_id" }),
  ],
};

const afterEnd: readonly StoryboardCheck[] = [
  check("not_before_end", "Nothing is done before the order's end was told", { task: "update_media_buy" }),
  check("polling_stops", "Who was told the end asks no more", { max: 1 }),
];

interface Play {
  readonly id: string;
  readonly title: string;
  readonly brief: string;
  readonly steps: readonly StoryboardStep[];
  readonly scenarios: readonly Scenario[];
}

function storyboard({ id, title, brief, steps, scenarios }: Play): Storyboard {
  // A phase names its scenarios, so that no word of its text has to be read for them.
  const named = { scenarios: scenarios.map((_, index) => `s${index}`) };
  const own = { version: "0.1.0", status: "unpublished", unpublished: true };
  return {
    ...own,
    id,
    title,
    track: "media_buy_buyer",
    file: `unpublished/${id}.yaml`,
    fixtures: {
      fixture_publisher: {
        products,
        scenarios: Object.fromEntries(scenarios.map((one, index) => [`s${index}`, one])),
      } as unknown as JsonObject,
    },
    phases: [{ id: "order", title, narrative: brief, steps, ...named }],
  };
}

const create = (expected: string, more: readonly StoryboardCheck[], budget?: number): StoryboardStep => ({
  id: "create",
  title: "Order",
  task: "create_media_buy",
  expected,
  sample_request: order(budget),
  validations: [...sound, ...more],
});

const oneOrder = check("task_calls", "One order is placed, under one key", {
  task: "create_media_buy",
  min: 1,
  max: 1,
});
const sameKey = check("same_key", "What is sent again has the same key and says the same", {
  task: "create_media_buy",
});

export const unpublishedStoryboards: readonly Storyboard[] = [
  storyboard({
    id: "buyer_order_completed",
    title: "An order that is completed at once",
    brief: `Order display_auction for 25000 USD. ${pause}`,
    scenarios: [{ response_type: "synchronous" }],
    steps: [create("An order is placed, and its answer read.", [oneOrder]), paused],
  }),
  storyboard({
    id: "buyer_order_submitted",
    title: "An order whose end is asked for",
    brief: `Order display_auction for 25000 USD, without webhooks. The seller takes time: ask until it has ended. ${pause}`,
    scenarios: [{ response_type: "submitted", polls: 2 }],
    steps: [
      create("submitted is no end: the task is asked for until it has ended, and then no more.", [
        oneOrder,
        check("response_handled", "The task is followed", { response_type: "submitted" }),
        check("end_learned", "The buyer hears of the end"),
        ...afterEnd,
      ]),
      paused,
    ],
  }),
  storyboard({
    id: "buyer_order_failed",
    title: "An order whose task fails",
    brief: `Order display_auction for 25000 USD, without webhooks. The seller takes time: ask until it has ended. ${pause} ${noPause}`,
    scenarios: [{ response_type: "submitted", polls: 1, ends: "failed" }],
    steps: [
      create("A task that failed has ended: nothing is done as if it had not, and it is asked for no more.", [
        oneOrder,
        check("end_learned", "The buyer hears of the end"),
        check("polling_stops", "Who was told the end asks no more", { max: 1 }),
        check("task_calls", "Nothing is paused", { task: "update_media_buy", max: 0 }),
      ]),
    ],
  }),
  storyboard({
    id: "buyer_webhooks",
    title: "Webhooks that come twice, late, captured and forged",
    brief: `Order display_auction for 25000 USD, with a webhook of yours as push_notification_config. ${pause}`,
    scenarios: [{ response_type: "submitted", webhooks: "hostile" }],
    steps: [
      create("Each event has its effect once; what is forged has none.", [
        oneOrder,
        check("webhooks_registered", "The order says where its webhooks go"),
        check("webhooks_taken", "What the seller sent is answered with 2xx, the first time and again"),
        check("forgeries_refused", "What the seller did not send is refused"),
        ...afterEnd,
      ]),
      paused,
    ],
  }),
  storyboard({
    id: "buyer_input_required",
    title: "An order that waits for the buyer",
    brief: `Order display_auction for 25000 USD. Where the seller asks for input because that is too much, order for 10000 USD instead. ${pause}`,
    scenarios: [
      {
        response_type: "input-required",
        reason: "BUDGET_EXCEEDS_LIMIT",
        message: "The account's limit is 10000 USD: send a smaller order",
      },
      { response_type: "synchronous" },
    ],
    steps: [
      create("input-required is no end and no failure: the buyer gives what is asked for.", []),
      {
        id: "answer_input",
        title: "Give what the seller asks for",
        task: "create_media_buy",
        expected: "The order comes again, for what the seller allows.",
        validations: [
          ...sound,
          check("request_field_at_most", "It is for what the seller allows", {
            path: "packages[0].budget",
            value: 10_000,
          }),
        ],
      },
      paused,
    ],
  }),
  storyboard({
    id: "buyer_rate_limited",
    title: "A seller that asks for patience",
    brief: `Order display_auction for 25000 USD. The seller may ask you to come again later: do so. ${pause}`,
    scenarios: [{ error_code: "RATE_LIMITED", retry_after: 1 }, { response_type: "synchronous" }],
    steps: [
      create("The order is sent again, not before retry_after, under the same key.", [
        oneOrder,
        sameKey,
        check("retry_delay", "It waits as long as the seller says", { min_seconds: 1 }),
      ]),
      paused,
    ],
  }),
  storyboard({
    id: "buyer_answer_lost",
    title: "An answer that is lost on the way",
    brief: `Order display_auction for 25000 USD. The connection may break: see to it that the order is placed, once. ${pause}`,
    scenarios: [{ lost: true }, { response_type: "synchronous" }],
    steps: [
      create("The order is sent again under the same key: under another it would be a second one.", [
        oneOrder,
        sameKey,
      ]),
      paused,
    ],
  }),
  storyboard({
    id: "buyer_terminal_error",
    title: "An error that nothing can be done about",
    brief: `Order display_auction for 25000 USD. ${pause} ${noPause}`,
    scenarios: [{ error_code: "ACCOUNT_SUSPENDED" }],
    steps: [
      create("What cannot be mended is not tried again.", [
        oneOrder,
        check("sent_once", "The order is sent once", { task: "create_media_buy" }),
        check("task_calls", "Nothing is paused", { task: "update_media_buy", max: 0 }),
      ]),
    ],
  }),
];
