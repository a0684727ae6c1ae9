/** Why a crawl failed: in words, as it is kept, and as a code for programs. */
import type { CrawlRequestRow } from "../../store/registry-crawl.js";

/** What is said of what the origin has no part in, or says to all crawlers. */
export const CRAWL_ERRORS = {
  robots: "robots.txt asks crawlers not to fetch the file",
  opted_out: "the domain's owner wants nothing fetched",
  cut_off: "the crawl was cut off again and again",
  not_kept: "what was found could not be kept",
} as const;

const codes = new Map<string, string>(Object.entries(CRAWL_ERRORS).map(([code, error]) => [error, code]));

/** Of an attempt that came to its end with a fault, the file itself is at fault, or missing; of any other its origin. */
export function crawlErrorCode({ status, error }: Pick<CrawlRequestRow, "status" | "error">): string | null {
  if (error === null) return null;
  return codes.get(error) ?? (status === "completed" ? "no_valid_file" : "crawl_failed");
}
