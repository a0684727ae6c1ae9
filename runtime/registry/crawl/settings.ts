/** Options of a crawler, checked once. */
import { AdbindError } from "../../errors.js";
import type { CrawlerOptions, CrawlLimits } from "./types.js";

/** A domain without a file is asked ever less often, but once in this time at least, in milliseconds. */
export const LONGEST_RECRAWL_MS = 7 * 86_400_000;

const MINUTE_MS = 60_000;

/** docs/protocol/files.md#what-a-crawl-does, 7 and 8. */
const defaults: CrawlLimits = {
  debounceMs: 5 * MINUTE_MS,
  perCallerHourly: 30,
  capacity: 10_000,
  concurrency: 4,
  recrawlMs: 6 * 60 * MINUTE_MS,
  recheckMs: 60 * MINUTE_MS,
  retryMs: [1, 5, 30, 120].map((minutes) => minutes * MINUTE_MS),
};

const bad = (where: string, remedy: string): AdbindError =>
  new AdbindError("registry_option_invalid", "an option of a crawler cannot be used", { where, remedy });

/** @throws AdbindError `registry_option_invalid` */
export function checkedCrawlLimits(options: CrawlerOptions): CrawlLimits {
  const given = Object.fromEntries(
    Object.keys(defaults)
      .map((name) => [name, options[name as keyof CrawlLimits]] as const)
      .filter(([, value]) => value !== undefined),
  );
  const limits: CrawlLimits = { ...defaults, ...given };
  for (const [name, value] of Object.entries(limits)) {
    const least = name === "debounceMs" ? 0 : 1;
    const numbers = Array.isArray(value) ? value : [value];
    if (!numbers.every((one) => Number.isSafeInteger(one) && one >= least))
      throw bad(name, `give a whole number of at least ${least}`);
  }
  return limits;
}

/** @throws AdbindError `registry_option_invalid` */
export function checkedPublicUrl(given = "http://localhost"): string {
  if (!/^https?:\/\/[^/]/.test(given) || !URL.canParse(given)) throw bad("publicUrl", "give https://host");
  return given.replace(/\/+$/, "");
}
