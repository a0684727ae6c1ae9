/**
 * What this seller knows, as JSON documents in one SQLite table. A call works on its own view: it reads what is
 * committed and what it wrote itself, and `commit` writes all of that in the transaction that records its answer.
 */
import { ToolError } from "adbind/seller";
import type { SqliteStore } from "adbind/store";

type Database = SqliteStore["db"];

/** A document's place: `kind` is its sort, `owner` whose it is (empty: everybody's), `id` its name among them. */
export interface Place {
  readonly kind: string;
  readonly owner: string;
  readonly id: string;
}

export interface Fixture extends Place {
  readonly body: object;
}

interface Row {
  readonly id: string;
  readonly version: number;
  readonly body: string;
}

interface Held {
  readonly place: Place;
  /** As read; 0 where there was none. */
  readonly version: number;
  /** Undefined: removed, or never there. */
  body: object | undefined;
  changed: boolean;
}

const TABLE = `create table if not exists documents (
  position integer primary key,
  kind text not null, owner text not null, id text not null,
  version integer not null, body text not null,
  unique (kind, owner, id)
)`;

export interface Documents {
  /** A copy of the document, to be changed freely and put back. */
  get<T extends object>(kind: string, owner: string, id: string): T | undefined;
  /** All of an owner, oldest first. */
  list<T extends object>(kind: string, owner: string): T[];
  put(kind: string, owner: string, id: string, body: object): void;
  remove(kind: string, owner: string, id: string): void;
  /** Something was put or removed. */
  readonly changed: boolean;
  /** @throws ToolError CONFLICT when another call changed a document this one has changed too */
  commit(db: Database): void;
}

const keyOf = ({ kind, owner, id }: Place): string => JSON.stringify([kind, owner, id]);

/** A view of the documents for one call. */
export function openDocuments(db: Database): Documents {
  const held = new Map<string, Held>();
  const hold = (place: Place): Held => {
    const key = keyOf(place);
    const known = held.get(key);
    if (known !== undefined) return known;
    const row = db
      .prepare<unknown[], Row>("select id, version, body from documents where kind = ? and owner = ? and id = ?")
      .get(place.kind, place.owner, place.id);
    const fresh: Held = {
      place,
      version: row?.version ?? 0,
      body: row === undefined ? undefined : (JSON.parse(row.body) as object),
      changed: false,
    };
    held.set(key, fresh);
    return fresh;
  };
  const change = (place: Place, body: object | undefined): void => {
    const document = hold(place);
    document.body = body === undefined ? undefined : structuredClone(body);
    document.changed = true;
  };
  const copy = <T extends object>({ body }: Held): T | undefined =>
    body === undefined ? undefined : (structuredClone(body) as T);
  return {
    get: (kind, owner, id) => copy(hold({ kind, owner, id })),
    list<T extends object>(kind: string, owner: string): T[] {
      const ids = db
        .prepare<unknown[], Row>("select id from documents where kind = ? and owner = ? order by position")
        .all(kind, owner)
        .map(({ id }) => id);
      const added = [...held.values()]
        .filter(({ place }) => place.kind === kind && place.owner === owner)
        .map(({ place }) => place.id);
      return [...new Set([...ids, ...added])].flatMap((id) => copy<T>(hold({ kind, owner, id })) ?? []);
    },
    put: (kind, owner, id, body) => change({ kind, owner, id }, body),
    remove: (kind, owner, id) => change({ kind, owner, id }, undefined),
    get changed() {
      return [...held.values()].some(({ changed }) => changed);
    },
    commit(tx) {
      for (const document of held.values()) if (document.changed) write(tx, document);
    },
  };
}

function write(db: Database, { place, version, body }: Held): void {
  const { kind, owner, id } = place;
  const text = JSON.stringify(body);
  const { changes } =
    body === undefined
      ? db
          .prepare("delete from documents where kind = ? and owner = ? and id = ? and version = ?")
          .run(kind, owner, id, version)
      : version === 0
        ? db
            .prepare(
              "insert into documents (kind, owner, id, version, body) values (?, ?, ?, 1, ?) on conflict do nothing",
            )
            .run(kind, owner, id, text)
        : db
            .prepare(
              "update documents set body = ?, version = version + 1 where kind = ? and owner = ? and id = ? and version = ?",
            )
            .run(text, kind, owner, id, version);
  if (changes === 0 && !(body === undefined && version === 0))
    throw new ToolError("CONFLICT", `${kind} ${id} was changed by another call; read it again and repeat`);
}

/** Makes the table, and puts in the fixtures that are not there yet. */
export function prepareDocuments(db: Database, fixtures: readonly Fixture[]): void {
  db.exec(TABLE);
  const insert = db.prepare(
    "insert into documents (kind, owner, id, version, body) values (?, ?, ?, 1, ?) on conflict do nothing",
  );
  db.transaction(() => {
    for (const { kind, owner, id, body } of fixtures) insert.run(kind, owner, id, JSON.stringify(body));
  })();
}
