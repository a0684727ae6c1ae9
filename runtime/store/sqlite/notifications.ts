/** `notification_id`s seen: the same one under another key is a re-emission (docs/protocol/webhooks.md#persistent-channels). */
import type { Database } from "better-sqlite3";
import { NOTIFICATION_RETENTION_MS } from "../rows.js";

export interface Notifications {
  /** Inside the caller's transaction: true when it was seen before. */
  seen(sender: number, notificationId: string, now: number): boolean;
  expire(now: number, limit: number): number;
}

export function sqliteNotifications(db: Database): Notifications {
  const insert = db.prepare(
    "insert into adbind_notifications (sender, notification_id, expires) values (?, ?, ?) on conflict do nothing",
  );
  const touch = db.prepare("update adbind_notifications set expires = ? where sender = ? and notification_id = ?");
  const oldest = db.prepare<[number, number], { sender: number; notification_id: string }>(
    "select sender, notification_id from adbind_notifications where expires <= ? order by expires limit ?",
  );
  const remove = db.prepare("delete from adbind_notifications where sender = ? and notification_id = ?");
  return {
    seen(sender, notificationId, now) {
      const expires = now + NOTIFICATION_RETENTION_MS;
      if (insert.run(sender, notificationId, expires).changes === 1) return false;
      touch.run(expires, sender, notificationId);
      return true;
    },
    expire(now, limit) {
      const rows = oldest.all(now, limit);
      for (const row of rows) remove.run(row.sender, row.notification_id);
      return rows.length;
    },
  };
}
