/** What a step sends: the published sample, with what it leaves to the run. */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import { errorCodeOf } from "./agent/outcome.js";
import { buildAssets } from "./assets.js";
import { generateFirst, inject } from "./captures.js";
import type { StoryboardStep } from "./document.js";
import { withBindings } from "./fixtures.js";
import { withMovedFlights } from "./flights.js";
import { fieldAt } from "./paths.js";
import type { KnownAgent, StoryState } from "./state.js";
import { type Substituted, type SubstitutionSource, substitute } from "./substitution.js";

function substitutionOf(story: StoryState, agentUrl: string): SubstitutionSource {
  const { run, context, kit, storyboard } = story;
  return {
    context,
    kit,
    agentUrl,
    uuid: run.uuid,
    aliases: run.aliases,
    webhookBase: () => run.catcher?.base,
    webhookUrl: (step) => run.catcher?.urlFor(storyboard.id, step),
    operationId: (step) => story.operationIds.get(step),
  };
}

export const substituteIn = (story: StoryState, agentUrl: string, template: unknown): Substituted =>
  substitute(template, substitutionOf(story, agentUrl));

export interface Request {
  readonly args: JsonObject;
  /** Placeholders that stand for nothing. */
  readonly unresolved: readonly string[];
  /** Why the run could not make what the sample leaves to it. */
  readonly problem?: string;
  /** No fixture of the kit fills an asset that the format needs, or nothing is there to send at all. */
  readonly unfilled?: string;
}

/** A day of milliseconds. */
const DAY_MS = 86_400_000;

/** Whether a webhook's trigger says nothing of the order it is to make. */
const isBareTrigger = (task: string, args: JsonObject): boolean =>
  task === "create_media_buy" && args.packages === undefined && args.proposal_id === undefined;

/** An order of the first product that the agent sells, for triggers that only say where the webhook goes. */
async function orderOf(args: JsonObject, agent: KnownAgent, story: StoryState): Promise<JsonObject | string> {
  const account = { brand: { domain: "acmeoutdoor.example" }, operator: "pinnacle-agency.example" };
  const brand = { domain: "acmeoutdoor.example" };
  const asked = { buying_mode: "brief", brief: "Display and video for outdoor gear", account, brand };
  const answer = await story.sessionOf(agent).call("get_products", asked);
  const product = fieldAt(answer.payload, "products[0]");
  if (!isJsonObject(product)) {
    const answered = { word: story.run.release.word, tool: undefined };
    const why = errorCodeOf(answer, answered)?.code ?? answer.error?.message ?? "no products";
    return `the run orders the first product that get_products offers, and got ${why}`;
  }
  const pricing = fieldAt(product, "pricing_options[0]");
  const fixed = isJsonObject(pricing) ? pricing : {};
  const floor = typeof fixed.floor_price === "number" ? fixed.floor_price : undefined;
  const least = typeof fixed.min_spend_per_package === "number" ? fixed.min_spend_per_package : 0;
  const auction = fixed.fixed_price === undefined && fixed.rate === undefined;
  // The same in the whole run: under one key a request has to say the same each time.
  const { beganAt } = story.run;
  return {
    account,
    brand,
    start_time: new Date(beganAt + 2 * DAY_MS).toISOString(),
    end_time: new Date(beganAt + 32 * DAY_MS).toISOString(),
    packages: [
      {
        product_id: product.product_id,
        budget: Math.max(100_000, 2 * least),
        pricing_option_id: fixed.pricing_option_id,
        ...(auction && { bid_price: (floor ?? 5) * 2 }),
      },
    ],
    ...args,
  };
}

/** What the one read takes that a probe may be made with and that wants to be told what is looked for. */
const ANY_SIGNAL = { signal_spec: "Adults who are interested in outdoor gear" };

/** A probe's request is published for any protected read: where the chosen one wants a choice made, it is made. */
function probed(step: StoryboardStep, task: string, args: JsonObject, { run }: StoryState): JsonObject {
  if (!step.task.endsWith(".probe_task") || run.schemas.request(task, args) === undefined) return args;
  const chosen = { ...ANY_SIGNAL, ...args };
  return run.schemas.request(task, chosen) === undefined ? chosen : args;
}

/** Whether a request of the tool is made safe to repeat by a key. */
const wantsKey = (task: string, story: StoryState): boolean => {
  const { tools } = story.run.release;
  const tool = Object.hasOwn(tools, task) ? tools[task] : undefined;
  return tool?.mutating === true && tool.idempotency === "required";
};

/** A step that says nothing of its request, and is not about one that is refused. */
const isLeftToRunner = ({ sample_request, expect_error }: StoryboardStep): boolean =>
  sample_request === undefined && expect_error !== true;

/** Makes what a step sends. */
export async function requestOf(
  step: StoryboardStep,
  task: string,
  agent: KnownAgent,
  story: StoryState,
): Promise<Request> {
  const { context, run } = story;
  generateFirst(step, { context, generate: (template) => substituteIn(story, agent.url, template).value });
  const assets = buildAssets(step.sample_request ?? {}, { context, kit: story.kit, history: story.history });
  if ("unfilled" in assets) return { args: {}, unresolved: [], unfilled: assets.unfilled };
  const sample = withMovedFlights(assets.request, run.flights);
  const { value, unresolved } = substituteIn(story, agent.url, sample);
  const named = withBindings(value as JsonObject, story.bindings, (field, entity) => run.schemas.names(field, entity));
  let args = probed(step, task, named, story);
  inject(step, args, context);
  if (unresolved.length > 0) return { args, unresolved };
  if (isBareTrigger(task, args) && args.push_notification_config !== undefined) {
    const order = await orderOf(args, agent, story);
    if (typeof order === "string") return { args, unresolved, problem: order };
    args = order;
  }
  if (step.omit_idempotency_key !== true && args.idempotency_key === undefined && wantsKey(task, story))
    args = { ...args, idempotency_key: run.uuid() };
  if (wantsKey(task, story) && isLeftToRunner(step) && run.schemas.request(task, args) !== undefined)
    return { args, unresolved, unfilled: `the storyboard gives no request, and ${task} takes no empty one` };
  return { args, unresolved };
}
