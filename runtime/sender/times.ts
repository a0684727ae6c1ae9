/** Times that applications give, as events have them. */
import { AdbindError } from "../errors.js";

/** From the year 0 on, in unix milliseconds; and a day before the year 10000, so that those that follow have a time, too. */
const [FIRST_MS, LAST_MS] = [-62_167_219_200_000, Date.UTC(9999, 11, 31)];

/**
 * @param times unix milliseconds, by their names; what is undefined was not given
 * @throws AdbindError `event_invalid` for what is no time, or one that no receiver reads
 */
export function checkTimes(times: { readonly [where: string]: number | undefined }): void {
  for (const [where, ms] of Object.entries(times)) {
    if (ms === undefined || (typeof ms === "number" && ms >= FIRST_MS && ms <= LAST_MS)) continue;
    throw new AdbindError("event_invalid", "a time cannot be used", {
      where,
      remedy: "give unix milliseconds of the years 0 to 9999",
    });
  }
}
