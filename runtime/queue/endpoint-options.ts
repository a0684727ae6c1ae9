/** How slots are shared out among endpoints, and when one is left alone. */

/** Who stands behind an endpoint: what they may have leased at once is capped, however many endpoints they have. */
export interface EndpointOwner {
  readonly host: string;
  readonly principal: string;
  /** A name, by its bytes after all endpoints that the principal has beside this one, and before all others: whoever has many is passed by it. */
  readonly end?: string;
}

/**
 * How many more jobs of an endpoint may be leased.
 * @param others endpoints that are asked for after it in one go, by default none: each has its part of what is left
 */
export type RoomOf = (endpoint: string, others?: number) => number;

/** What one endpoint, host or principal may have of a worker's slots, and how a failing one is left alone. */
export interface EndpointOptions {
  /** Most jobs of an endpoint at once. */
  readonly perEndpoint: number;
  /** Most jobs at once of all endpoints on a host. */
  readonly perHost: number;
  /** Most jobs at once of all endpoints of a principal. */
  readonly perPrincipal: number;
  /**
   * Most jobs at once of all endpoints that have not succeeded yet, or fail. A principal has at most half of what others leave,
   * and those that have failed three quarters of all.
   */
  readonly perUnproven: number;
  /** Failures in a row after which the endpoint is paused. */
  readonly failuresToPause: number;
  /** First pause, in milliseconds; doubled with each probe that fails. */
  readonly pauseMs: number;
  /** Longest pause, in milliseconds. */
  readonly maxPauseMs: number;
  /** Jobs that an endpoint which is well may have leased, for each of its slots; `LEASED_PER_SLOT` by default. */
  readonly leasedPerSlot?: number | undefined;
  /** Who stands behind an endpoint; by default nobody but itself. */
  readonly ownerOf: (endpoint: string) => EndpointOwner;
}
