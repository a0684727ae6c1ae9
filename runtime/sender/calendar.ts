/** When scheduled reports are due: at the turn of the hour, the day, the month, in UTC. */
export type Frequency = "hourly" | "daily" | "monthly";

export const isFrequency = (value: unknown): value is Frequency =>
  value === "hourly" || value === "daily" || value === "monthly";

/** The first turn after a time. Unix milliseconds. */
export function nextTurn(frequency: Frequency, after: number): number {
  const date = new Date(after);
  const [year, month, day, hour] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), date.getUTCHours()];
  switch (frequency) {
    case "hourly":
      return Date.UTC(year, month, day, hour + 1);
    case "daily":
      return Date.UTC(year, month, day + 1);
    case "monthly":
      return Date.UTC(year, month + 1, 1);
  }
}
