/**
 * What this seller knows, as JSON documents. A call works on its own view: it reads what is committed and what it wrote
 * itself, and `commit` writes all of that in the transaction that records its answer.
 */
import { ToolError } from "adbind/seller";
import { after } from "./effects.js";
import type { Change, Place, Shelf, Tx } from "./shelf.js";

export type { Fixture, Place } from "./shelf.js";

interface Held {
  readonly place: Place;
  /** As read; 0 where there was none. */
  readonly version: number;
  /** Undefined: removed, or never there. */
  body: object | undefined;
  changed: boolean;
}

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
  commit(tx: Tx): void | Promise<void>;
}

const keyOf = ({ kind, owner, id }: Place): string => JSON.stringify([kind, owner, id]);

/** A view of the documents for one call; the shelf has caught up with what that call may rely on. */
export function openDocuments(shelf: Shelf): Documents {
  const held = new Map<string, Held>();
  const hold = (place: Place): Held => {
    const key = keyOf(place);
    const known = held.get(key);
    if (known !== undefined) return known;
    const kept = shelf.read(place);
    const fresh: Held = {
      place,
      version: kept?.version ?? 0,
      body: kept === undefined ? undefined : (JSON.parse(kept.body) as object),
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
      const added = [...held.values()]
        .filter(({ place }) => place.kind === kind && place.owner === owner)
        .map(({ place }) => place.id);
      return [...new Set([...shelf.ids(kind, owner), ...added])].flatMap(
        (id) => copy<T>(hold({ kind, owner, id })) ?? [],
      );
    },
    put: (kind, owner, id, body) => change({ kind, owner, id }, body),
    remove: (kind, owner, id) => change({ kind, owner, id }, undefined),
    get changed() {
      return [...held.values()].some(({ changed }) => changed);
    },
    commit: (tx) => after(shelf.write(tx, changesOf(held.values())), refuse),
  };
}

const changesOf = (held: Iterable<Held>): Change[] =>
  [...held]
    .filter(({ changed }) => changed)
    .map(({ place, version, body }) => ({ ...place, version, body: body && JSON.stringify(body) }));

function refuse(unwritten: Change | undefined): void {
  if (unwritten === undefined) return;
  const { kind, id } = unwritten;
  throw new ToolError("CONFLICT", `${kind} ${id} was changed by another call; read it again and repeat`);
}
