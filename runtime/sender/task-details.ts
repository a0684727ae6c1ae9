import { isJsonObject, type JsonObject } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import type { ReportingWebhook } from "./buy-configs.js";
import type { StoredConfig } from "./registered-config.js";
import type { A2aPushConfig, PushNotificationConfig } from "./types.js";

/** What is kept of a task: its channels without their secrets, and what its events echo. */
export interface TaskDetails {
  readonly push?: StoredConfig<PushNotificationConfig>;
  readonly a2a?: StoredConfig<A2aPushConfig>;
  /** Of the media buy that the task makes, for when it has made it. */
  readonly reporting?: StoredConfig<ReportingWebhook>;
  readonly context?: JsonObject;
  readonly contextId?: string;
  /** Version of the release it was registered under. */
  readonly release?: string;
}

/** @throws AdbindError `task_unreadable` for a row that was written by somebody else's hand */
export function taskDetailsOf(row: { readonly task_id: string; readonly details: string }): TaskDetails {
  const unreadable = (what: string, cause?: unknown): AdbindError =>
    new AdbindError("task_unreadable", what, { where: `task ${row.task_id}`, ...(cause !== undefined && { cause }) });
  let details: unknown;
  try {
    details = JSON.parse(row.details);
  } catch (cause) {
    throw unreadable("what is kept of a task is no JSON", cause);
  }
  if (!isJsonObject(details)) throw unreadable("what is kept of a task is no object");
  for (const via of ["push", "a2a", "reporting"]) {
    const stored = details[via];
    if (stored === undefined || (isJsonObject(stored) && typeof stored.url === "string")) continue;
    throw unreadable(`what is kept of a task has no URL in its ${via}`);
  }
  return details;
}

/** What reads a row; undefined where that was broken by hand: it would keep all others from moving. */
export function unlessBroken<T>(read: () => T): { readonly read: T } | undefined {
  try {
    return { read: read() };
  } catch {
    return undefined;
  }
}
