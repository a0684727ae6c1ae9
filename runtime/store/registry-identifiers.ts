/** Where an identifier stands. Anybody may name anybody's, as often as a file has room. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import type { PropertyRow } from "./registry-publishers.js";

export interface NamedIdentifier {
  readonly type: string;
  /** As it is looked up by. */
  readonly value: string;
}

/** Most places of one identifier looked at within one publisher: real ones have a handful. */
export const IDENTIFIER_LIMIT_PLACES = 100;

/**
 * Publishers that name an identifier, each once, as a text of a table expression. It goes from one to the next in the index: a
 * publisher that names it in each of its properties costs no more than another.
 */
const NAMING =
  "with recursive naming (publisher, n) as (" +
  "select (select min(publisher) from adbind_registry_identifiers where value = ? and type = ? and publisher > ?), 1 union all " +
  "select (select min(i.publisher) from adbind_registry_identifiers i where i.value = ? and i.type = ? and i.publisher > w.publisher), w.n + 1 " +
  "from naming w where w.publisher is not null and w.n < ?)";

const namingValues = ({ type, value }: NamedIdentifier, after: number, limit: number) => [
  ...[value, type, after],
  ...[value, type, limit],
];

/** Publishers that name an identifier, those known longest first. */
export function* publishersNaming(q: Query, identifier: NamedIdentifier, limit: number): Coroutine<number[]> {
  const text = `${NAMING} select publisher from naming where publisher is not null order by publisher`;
  const rows = yield* q.rows<{ publisher: number }>(text, namingValues(identifier, 0, limit));
  return rows.map(({ publisher }) => publisher);
}

export interface NamingRow {
  readonly publisher: number;
  /** Bytes of what it says of the agent itself, or a file hosted for it; null where that is nothing. */
  readonly bytes: number | null;
}

/** As `publishersNaming`, after one of them, with how much each says of an agent. */
export const publishersNamingWith = (
  q: Query,
  identifier: NamedIdentifier,
  { agent, after, limit }: { readonly agent: number; readonly after: number; readonly limit: number },
): Coroutine<NamingRow[]> =>
  q.rows(
    `${NAMING} select w.publisher, (select sum(octet_length(a.entries)) from adbind_registry_authorizations a ` +
      "where a.publisher = w.publisher and a.agent = ? and a.source in ('aao_hosted', 'adagents_json')) as bytes " +
      "from naming w where w.publisher is not null order by w.publisher",
    [...namingValues(identifier, after, limit), agent],
  );

/** A publisher's properties that have an identifier. */
export const propertiesWith = (
  q: Query,
  publisher: number,
  { type, value }: NamedIdentifier,
): Coroutine<PropertyRow[]> =>
  q.rows(
    "select p.* from (select publisher, source, key from adbind_registry_identifiers where value = ? and type = ? and publisher = ? " +
      "order by source, key limit ?) i join adbind_registry_properties p on p.publisher = i.publisher and p.source = i.source " +
      "and p.key = i.key order by p.source, p.key",
    [value, type, publisher, IDENTIFIER_LIMIT_PLACES],
  );
