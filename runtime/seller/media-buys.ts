/** What the envelope of a seller adds to media buys: who was told what, and where they are told it. */
import type { AnyTool, JsonObject } from "../contract/index.js";
import { type Coroutine, wait } from "../db/coroutine.js";
import type { BuyChannels } from "../sender/channels.js";
import type { Sender } from "../sender/sender.js";
import { isObject } from "./json-object.js";
import type { Settings } from "./settings.js";
import { refusedBy } from "./tool-error.js";
import type { Identity } from "./types.js";

/** Tools service.md gives a meaning beyond their schemas ("Task operations referenced"). */
export const opening: ReadonlySet<string> = new Set(["create_media_buy", "update_media_buy"]);
const READING = "get_media_buys";

/**
 * Adds `webhook_activity` to media buys where it was asked for: the caller's own, newest first.
 * Fires of the tasks that made or changed a buy are among its own.
 */
export async function addActivity<_Tx>(
  sender: Sender | undefined,
  book: { tasksOf(principal: string, resource: string): Promise<readonly string[]> },
  { identity: { principal } }: { readonly identity: Identity },
  tool: AnyTool,
  args: JsonObject,
  data: JsonObject,
): Promise<JsonObject> {
  if (tool.name !== READING || args.include_webhook_activity !== true || sender === undefined) return data;
  if (!Array.isArray(data.media_buys)) return data;
  const limit = typeof args.webhook_activity_limit === "number" ? { limit: args.webhook_activity_limit } : {};
  const buys: unknown[] = [];
  for (const buy of data.media_buys) {
    if (!isObject(buy) || typeof buy.media_buy_id !== "string" || buy.webhook_activity !== undefined) {
      buys.push(buy);
      continue;
    }
    const own = await sender.activity({ principal, subject: buy.media_buy_id, ...limit });
    const tasks = await book.tasksOf(principal, buy.media_buy_id);
    const fired = await Promise.all(tasks.map((subject) => sender.activity({ principal, subject, ...limit })));
    // A task's fires are of no notification type: they name the tool.
    const ofTasks = fired.flat().map(({ notification_type: type, ...record }) => ({ ...record, task_type: type }));
    const merged = [...own, ...ofTasks].sort((a, b) =>
      a.fired_at < b.fired_at ? 1 : a.fired_at > b.fired_at ? -1 : 0,
    );
    buys.push({ ...buy, webhook_activity: merged.slice(0, limit.limit ?? 50) });
  }
  return { ...data, media_buys: buys };
}

export interface BuyOpening {
  readonly principal: string;
  /** Version of the release the call is in. */
  readonly release: string;
  readonly args: JsonObject;
  readonly payload: JsonObject;
}

/**
 * Opens the persistent channels a call asked for, or changes them (service.md, "Persistent channels").
 * @throws ToolError where one is refused
 */
export function* openChannels<Tx>({ sender }: Settings<Tx>, tx: Tx, of: BuyOpening): Coroutine<void> {
  const { args, payload, principal, release } = of;
  const mediaBuyId = payload.media_buy_id ?? args.media_buy_id;
  if (typeof mediaBuyId !== "string" || sender === undefined) return;
  const channels = {
    ...(isObject(args.reporting_webhook) && { reporting: args.reporting_webhook }),
    ...(isObject(args.push_notification_config) && { events: args.push_notification_config }),
  } as unknown as BuyChannels;
  const opened = yield* wait(sender.channels.open({ mediaBuyId, principal, release }, channels, { tx: tx as object }));
  if (!opened.ok) throw refusedBy(opened.error);
}
