/** Brand files as they came, and the words of their names, as rows. Times are unix milliseconds. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import type { PublisherRow } from "./registry-publishers.js";

export interface BrandFileRow {
  readonly url: string;
  readonly variant: "brand_agent" | "house_portfolio" | "brand_canonical";
  /** JSON. */
  readonly file: string;
  readonly digest: string;
  /** When it was found last. */
  readonly fetched_at: number;
}

export type BrandRow = Pick<PublisherRow, "domain" | "brand_name" | "brand_agents">;

export function* brandFileOf(q: Query, domain: string): Coroutine<BrandFileRow | undefined> {
  const rows = yield* q.rows<BrandFileRow>(
    "select f.url, f.variant, f.file, f.digest, f.fetched_at from adbind_registry_publishers p " +
      "join adbind_registry_brand_files f on f.publisher = p.id where p.domain = ?",
    [domain],
  );
  return rows[0];
}

/** The same without the file. */
export function* brandFileState(
  q: Query,
  domain: string,
): Coroutine<{ publisher: number; digest: string | null; fetched_at: number | null } | undefined> {
  const rows = yield* q.rows<{ publisher: number; digest: string | null; fetched_at: number | null }>(
    "select p.id as publisher, f.digest, f.fetched_at from adbind_registry_publishers p " +
      "left join adbind_registry_brand_files f on f.publisher = p.id where p.domain = ?",
    [domain],
  );
  return rows[0];
}

export const seenBrandFile = (q: Query, publisher: number, at: number): Coroutine<unknown> =>
  q.rows("update adbind_registry_brand_files set fetched_at = ? where publisher = ?", [at, publisher]);

/** Keeps a file, and the words it is found by, in place of what was kept before. */
export function* putBrandFile(
  q: Query,
  publisher: number,
  { url, variant, file, digest, fetched_at }: BrandFileRow,
  words: readonly string[],
): Coroutine<void> {
  yield* q.rows(
    "insert into adbind_registry_brand_files (publisher, url, variant, file, digest, fetched_at) values (?, ?, ?, ?, ?, ?) " +
      "on conflict (publisher) do update set url = excluded.url, variant = excluded.variant, file = excluded.file, " +
      "digest = excluded.digest, fetched_at = excluded.fetched_at",
    [publisher, url, variant, file, digest, fetched_at],
  );
  yield* q.rows("delete from adbind_registry_brand_words where publisher = ?", [publisher]);
  const rows = words.map((word) => [word, publisher]);
  if (rows.length > 0)
    yield* q.insert(
      "adbind_registry_brand_words",
      [
        ["word", "text"],
        ["publisher", "bigint"],
      ],
      rows,
    );
}

export function* removeBrandFile(q: Query, publisher: number): Coroutine<void> {
  yield* q.rows("delete from adbind_registry_brand_files where publisher = ?", [publisher]);
  yield* q.rows("delete from adbind_registry_brand_words where publisher = ?", [publisher]);
}

/** Places of one word looked at. */
const WORD_PLACES = 1_000;

/** Brands in whose names each of some words begins one. @param words at least one, the rarest first */
export const brandsWorded = (q: Query, words: readonly string[], limit: number): Coroutine<BrandRow[]> => {
  const [first, ...others] = words;
  const also = others.map(
    () =>
      "and exists (select 1 from adbind_registry_brand_words o where o.publisher = w.publisher and o.word >= ? and o.word < ?) ",
  );
  const range = (word: string): string[] => [word, `${word}\uffff`];
  return q.rows(
    "select p.domain, p.brand_name, p.brand_agents from adbind_registry_publishers p where p.brand_key is not null and p.id in (" +
      "select w.publisher from (select publisher from adbind_registry_brand_words where word >= ? and word < ? " +
      `order by word, publisher limit ?) w where 1 = 1 ${also.join("")}) order by p.brand_key, p.domain limit ?`,
    [...range(first!), WORD_PLACES, ...others.flatMap(range), limit],
  );
};
