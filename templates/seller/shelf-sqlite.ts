/** Documents on SQLite: one process, and every read is of what is committed. */
import type { SqliteStore } from "adbind/store";
import type { Change, Fixture, Kept, Place, Shelf } from "./shelf.js";

type Database = SqliteStore["db"];

const TABLE = `create table if not exists documents (
  position integer primary key,
  kind text not null, owner text not null, id text not null,
  version integer not null, body text not null,
  unique (kind, owner, id)
)`;

const INSERT = "insert into documents (kind, owner, id, version, body) values (?, ?, ?, 1, ?) on conflict do nothing";
const AT = "where kind = ? and owner = ? and id = ?";

export function openSqliteShelf({ db }: SqliteStore, fixtures: readonly Fixture[]): Shelf {
  db.exec(TABLE);
  const insert = db.prepare(INSERT);
  db.transaction(() => {
    for (const { kind, owner, id, body } of fixtures) insert.run(kind, owner, id, JSON.stringify(body));
  })();
  const one = db.prepare<unknown[], Kept>(`select version, body from documents ${AT}`);
  const ids = db
    .prepare<unknown[], string>("select id from documents where kind = ? and owner = ? order by position")
    .pluck();
  return {
    catchUp: async () => undefined,
    read: ({ kind, owner, id }: Place) => one.get(kind, owner, id),
    ids: (kind, owner) => ids.all(kind, owner),
    write: (tx, changes) => changes.find((change) => !written(tx as Database, change)),
  };
}

function written(db: Database, { kind, owner, id, version, body }: Change): boolean {
  if (body === undefined && version === 0) return true;
  const { changes } =
    body === undefined
      ? db.prepare(`delete from documents ${AT} and version = ?`).run(kind, owner, id, version)
      : version === 0
        ? db.prepare(INSERT).run(kind, owner, id, body)
        : db
            .prepare(`update documents set body = ?, version = version + 1 ${AT} and version = ?`)
            .run(body, kind, owner, id, version);
  return changes > 0;
}
