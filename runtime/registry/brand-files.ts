/** Brand files as they came: kept, found by the words of their names, and told. */
import { createHash } from "node:crypto";
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import {
  type BrandFileRow,
  brandFileState,
  putBrandFile,
  removeBrandFile,
  seenBrandFile,
} from "../store/registry-brands.js";
import type { CrawlResult } from "./file-types.js";

/** A brand file that is not there any more counts for so long after it was there last, in milliseconds. */
const KEPT_MS = 7 * 86_400_000;
const MAX_WORDS = 100;
const MAX_WORD = 40;

/** The words of a text: letters and digits of any script, lower case. */
export const nameWords = (text: string): string[] => [
  ...new Set(
    (
      text
        .normalize("NFKC")
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? []
    ).map((word) => word.slice(0, MAX_WORD)),
  ),
];

/** Whether what a brand file said comes to its end: it is gone, or cannot be reached, for a week. */
export function* brandEnds(q: Query, { domain, crawledAt, brand }: CrawlResult): Coroutine<boolean> {
  if (brand.outcome === "present") return false;
  const kept = yield* brandFileState(q, domain);
  return kept?.fetched_at != null && kept.fetched_at <= crawledAt - KEPT_MS;
}

/** Keeps the file that a crawl found, in the transaction that writes its publisher. */
export function* keepBrandFile(q: Query, { domain, crawledAt, brand }: CrawlResult, ended: boolean): Coroutine<void> {
  const before = yield* brandFileState(q, domain);
  if (before === undefined) return;
  const { publisher, digest: known } = before;
  if (ended || (brand.outcome === "present" && brand.document === undefined)) {
    if (known !== null) yield* removeBrandFile(q, publisher);
    return;
  }
  if (brand.document === undefined) return;
  const { url, variant, file, names } = brand.document;
  const text = JSON.stringify(file);
  const digest = createHash("sha256").update(`${url} ${text}`).digest("base64url").slice(0, 22);
  if (digest === known) return void (yield* seenBrandFile(q, publisher, crawledAt));
  const row: BrandFileRow = { url, variant, file: text, digest, fetched_at: crawledAt };
  yield* putBrandFile(q, publisher, row, [...new Set(names.flatMap(nameWords))].slice(0, MAX_WORDS));
}
