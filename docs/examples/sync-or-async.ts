/**
 * One body of statements on both engines, and within an application's own transaction: what an order and its note need is
 * written once, as a coroutine.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Coroutine, openSqlite, type Query } from "adbind/db";

/** Takes from stock what is there. @returns how many are left; undefined when there were too few */
function* take(q: Query, article: string, count: number): Coroutine<number | undefined> {
  const text = "update stock set left_over = left_over - ? where article = ? and left_over >= ? returning left_over";
  const [row] = yield* q.rows<{ left_over: number }>(text, [count, article, count]);
  if (row === undefined) return undefined;
  yield* q.run("insert into taken (article, count) values (?, ?)", [article, count]);
  return row.left_over;
}

const folder = mkdtempSync(path.join(tmpdir(), "adbind-example-"));
const database = openSqlite({ path: path.join(folder, "shop.db") });
await database.write(function* (q): Coroutine<void> {
  yield* q.run("create table stock (article text primary key, left_over integer not null)");
  yield* q.run("create table taken (article text not null, count integer not null)");
  yield* q.run("insert into stock values ('tent', 3)");
});

// A transaction of ours: begun, committed and, where `take` throws, undone.
console.log("left:", await database.write((q) => take(q, "tent", 2)));
console.log("left:", await database.write((q) => take(q, "tent", 2)));

// A transaction of the application's own, on its own handle. SQLite's cannot wait, and nothing here does.
database.file.transaction(() => {
  console.log(
    "left:",
    database.within(database.file, (q) => take(q, "tent", 1)),
  );
})();
console.log("taken:", await database.query((q) => q.rows("select count from taken order by count")));

await database.close();
rmSync(folder, { recursive: true });
