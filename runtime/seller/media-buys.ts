/** What the envelope of a seller adds to media buys: who was told what, and where they are told it. */
import { channelTools, isJsonObject, type JsonObject } from "../contract/index.js";
import { type Coroutine, wait } from "../db/coroutine.js";
import type { BuyChannels } from "../sender/buy-channels.js";
import type { ReportingWebhook } from "../sender/buy-configs.js";
import type { Sender } from "../sender/sender.js";
import type { SellerDatabase } from "../store/seller-tables.js";
import type { AnsweredCall, CallPlug } from "./call-plug.js";
import { refusedBy } from "./tool-error.js";

/** A tool with a meaning beyond its schema, as {@link channelTools} are (docs/protocol/tasks.md#media-buys). */
const READING = "get_media_buys";

/** Fires told of at once, unless the caller says. */
const ACTIVITY = 50;

interface MediaBuyDependencies<Tx> {
  readonly sender: Sender | undefined;
  readonly database: SellerDatabase<Tx>;
}

export function mediaBuyPlug<Tx>({ sender, database }: MediaBuyDependencies<Tx>): CallPlug<Tx> {
  const tasksOf = async (principal: string, id: string): Promise<readonly string[]> => {
    const rows = await database.transact({ principal }, function* (tx): Coroutine<{ task_id: string }[]> {
      return yield* database.tables.tasksOf(tx, principal, id);
    });
    return rows.map((row) => row.task_id);
  };
  return {
    subjectOf: ({ media_buy_id: id }) => (typeof id === "string" ? id : undefined),
    complete: async (call) => (sender === undefined ? call.payload : withActivity({ sender, tasksOf }, call)),
    keeps: (tool, args) =>
      sender !== undefined &&
      channelTools.has(tool) &&
      (isJsonObject(args.reporting_webhook) || isJsonObject(args.push_notification_config)),
    refusal: (tool, args, release) =>
      channelTools.has(tool) && isJsonObject(args.reporting_webhook)
        ? sender?.channels.check({ reporting: args.reporting_webhook as unknown as ReportingWebhook }, release)
        : undefined,
    *hold(tx, start, args): Coroutine<void> {
      const { reporting_webhook: reporting } = args;
      if (sender === undefined || !channelTools.has(start.tool) || !isJsonObject(reporting)) return;
      const kept = yield* wait(
        sender.tasks.hold(start, reporting as unknown as ReportingWebhook, { tx: tx as object }),
      );
      if (!kept.ok) throw refusedBy(kept.error);
    },
    *keep(tx, call): Coroutine<void> {
      if (sender !== undefined && channelTools.has(call.tool)) yield* openChannels(sender, tx, call);
    },
  };
}

interface ActivityDependencies {
  readonly sender: Sender;
  tasksOf(principal: string, mediaBuyId: string): Promise<readonly string[]>;
}

/**
 * Adds `webhook_activity` to media buys where it was asked for: the caller's own, newest first.
 * Fires of the tasks that made or changed a buy are among its own.
 */
async function withActivity(
  { sender, tasksOf }: ActivityDependencies,
  { tool, principal, args, payload }: AnsweredCall,
): Promise<JsonObject> {
  if (tool !== READING || args.include_webhook_activity !== true || !Array.isArray(payload.media_buys)) return payload;
  const limit = typeof args.webhook_activity_limit === "number" ? { limit: args.webhook_activity_limit } : {};
  const buys: unknown[] = [];
  for (const buy of payload.media_buys) {
    if (!isJsonObject(buy) || typeof buy.media_buy_id !== "string" || buy.webhook_activity !== undefined) {
      buys.push(buy);
      continue;
    }
    const own = await sender.activity({ principal, subject: buy.media_buy_id, ...limit });
    const tasks = await tasksOf(principal, buy.media_buy_id);
    const fired = await Promise.all(tasks.map((subject) => sender.activity({ principal, subject, ...limit })));
    // A task's fires are of no notification type: they name the tool.
    const ofTasks = fired.flat().map(({ notification_type: type, ...record }) => ({ ...record, task_type: type }));
    const merged = [...own, ...ofTasks].sort((a, b) =>
      a.fired_at < b.fired_at ? 1 : a.fired_at > b.fired_at ? -1 : 0,
    );
    buys.push({ ...buy, webhook_activity: merged.slice(0, limit.limit ?? ACTIVITY) });
  }
  return { ...payload, media_buys: buys };
}

/** A longer window is what both sides agreed on; no release has a word for it. */
const wireConfig = ({ coalescenceOptIn: _said, ...config }: JsonObject): JsonObject => config;

/**
 * Opens the persistent channels a call asked for, or changes them (docs/protocol/webhooks.md#persistent-channels).
 * @throws ToolError where one is refused
 */
function* openChannels<Tx>(sender: Sender, tx: Tx, of: AnsweredCall): Coroutine<void> {
  const { args, payload, principal, release, taskId } = of;
  const mediaBuyId = payload.media_buy_id ?? args.media_buy_id;
  if (typeof mediaBuyId !== "string") return;
  const asked: { readonly push?: unknown; readonly reporting?: unknown } =
    taskId === undefined
      ? { push: args.push_notification_config, reporting: args.reporting_webhook }
      : yield* wait(sender.tasks.held(taskId, { tx: tx as object, principal }));
  const channels = {
    ...(isJsonObject(asked.reporting) && { reporting: asked.reporting }),
    ...(isJsonObject(asked.push) && { events: wireConfig(asked.push) }),
  } as unknown as BuyChannels;
  const opened = yield* wait(sender.channels.open({ mediaBuyId, principal, release }, channels, { tx: tx as object }));
  if (!opened.ok) throw refusedBy(opened.error);
}
