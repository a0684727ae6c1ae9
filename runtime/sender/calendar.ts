/** When scheduled reports are due: at the turn of the hour, the day, the month. */
import { turnAfter } from "../calendar.js";

/** How often a media buy is reported on by itself. */
export type Frequency = "hourly" | "daily" | "monthly";

export const isFrequency = (value: unknown): value is Frequency =>
  value === "hourly" || value === "daily" || value === "monthly";

/** The first turn after a time, in unix milliseconds. @param zone whose clocks they are; UTC where left out */
export const nextTurn = (frequency: Frequency, after: number, zone?: string): number =>
  turnAfter(frequency, after, zone);
