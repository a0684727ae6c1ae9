/** Jobs that come to an endpoint on SQLite: new ones, and those of another. */
import type { Database } from "better-sqlite3";
import { BEHIND_DUE_MS } from "../jobs.js";
import { boundsOf } from "../ordering-keys.js";
import { type Basics, READY, type SqliteJobs } from "./sqlite-jobs.js";

export function adding(db: Database, { letNextGo, touch }: Basics): SqliteJobs["add"] {
  const insert = db.prepare<[string, string, number, string, string | null, number, number, number]>(
    "insert into adbind_jobs (topic, key, random, endpoint, ordering_key, state, due, created_at, body_at) " +
      "values (?, ?, ?, ?, ?, 'ready', ?, ?, ?)",
  );
  const insertBody = db.prepare<[number | bigint, number, string, Uint8Array]>(
    "insert into adbind_job_bodies (job, at, meta, body) values (?, ?, ?, ?)",
  );
  const first = db
    .prepare<[string, string], number>(
      `select due from adbind_jobs where topic = ? and ordering_key = ? and ${READY} and attempts = 0 order by id limit 1`,
    )
    .pluck();
  return (topic, jobs, now) => {
    for (const { key, random = false, endpoint, orderingKey = null, due = now, meta, body } of jobs) {
      const head = orderingKey === null ? undefined : first.get(topic, orderingKey);
      const behind = head !== undefined;
      const at = behind ? BEHIND_DUE_MS : due;
      const { lastInsertRowid } = insert.run(topic, key, Number(random), endpoint, orderingKey, at, now, now);
      insertBody.run(lastInsertRowid, now, meta, typeof body === "string" ? Buffer.from(body) : body);
      if (!behind) touch(topic, endpoint, due);
      // What it waited for is gone without a word: somebody has deleted it by hand.
      if (head === BEHIND_DUE_MS) letNextGo(topic, [{ orderingKey: orderingKey! }], now);
    }
  };
}

export function redirecting(db: Database, { touch }: Basics): SqliteJobs["redirect"] {
  const among = (attempts: string): string =>
    `select id from adbind_jobs where topic = ? and ordering_key >= ? and ordering_key <= ? and ${READY} and attempts ${attempts}`;
  const redirect = db.prepare<[...(string | number)[]]>(
    `update adbind_jobs set endpoint = ? where id in (${among("= 0")} union all ${among("> 0")})
      and endpoint <> ?`,
  );
  return (topic, orderingKeys, endpoint, now) => {
    const given = [topic, ...boundsOf(orderingKeys)];
    if (redirect.run(endpoint, ...given, ...given, endpoint).changes > 0) touch(topic, endpoint, now);
  };
}
