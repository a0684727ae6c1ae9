/** The time that figures are asked for. */
export interface DeliveryTime {
  /**
   * Days, `YYYY-MM-DD`: the first is part of it, the last is not. Of buys whose products all have reports or windows by the hour
   * also hours, ISO 8601 in UTC. Since it began, or until now, where one is left out.
   */
  readonly from?: string | undefined;
  readonly before?: string | undefined;
  /** Whose days they are: "UTC", or the time zone that products say they are reported in, of releases that let them differ. */
  readonly timezone: string;
}
