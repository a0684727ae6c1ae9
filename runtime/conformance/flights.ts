/**
 * Flights of old suites. Storyboards give the dates of their orders, and a suite outlives them: the agent that refuses an order
 * whose flight began last spring does what it should. Such flights are asked for as many whole years later, all by the same number,
 * so that what is said of one order in several requests stays the same, and what repeats a request repeats it.
 */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import type { Suite } from "./load.js";

/** Fields that give a flight, of an order or of the plan that allows it. */
const FLIGHT: ReadonlySet<string> = new Set(["start_time", "end_time", "start_date", "end_date", "start", "end"]);
/** A date, alone or with a time. */
const DATED = /^(\d{4})-(\d{2}-\d{2})($|T.*$)/;
/** An agent may want to be told of an order before it begins, in milliseconds. */
const AHEAD_MS = 86_400_000;

export interface MovedFlights {
  /** When the first order of the suite begins, as the suite has it. */
  readonly from: string;
  /** How many years later it is asked for. */
  readonly years: number;
}

const isLeap = (year: number): boolean => new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;

function later(date: string, years: number): string {
  const [, year = "", day = "", time = ""] = DATED.exec(date)!;
  const to = Number(year) + years;
  return `${String(to).padStart(4, "0")}-${day === "02-29" && !isLeap(to) ? "02-28" : day}${time}`;
}

/**
 * Begins of orders that are to be accepted, in the order of time. What is refused, or taken by some agents only, may be so for a flight
 * that has passed.
 */
const ordersOf = (suite: Suite): string[] =>
  suite.storyboards
    .flatMap(({ phases }) => phases.flatMap(({ optional, steps }) => (optional === true ? [] : steps)))
    .filter(({ task, expect_error: refused }) => task === "create_media_buy" && refused !== true)
    .flatMap(({ sample_request: request }) => {
      const start = isJsonObject(request) ? request.start_time : undefined;
      return typeof start === "string" && DATED.test(start) && !Number.isNaN(Date.parse(start)) ? [start] : [];
    })
    .sort((a, b) => Date.parse(a) - Date.parse(b));

/** @param now unix milliseconds @returns undefined where no order of the suite has begun by then */
export function movedFlights(suite: Suite, now: number): MovedFlights | undefined {
  const [from] = ordersOf(suite);
  if (from === undefined || Date.parse(from) > now) return undefined;
  const least = new Date(now).getUTCFullYear() - new Date(from).getUTCFullYear();
  const years = Date.parse(later(from, least)) > now + AHEAD_MS ? least : least + 1;
  return { from, years };
}

/** A request with its flights moved: those that begin or end no sooner than the first order of the suite. */
export function withMovedFlights(request: JsonObject, moved: MovedFlights | undefined): JsonObject {
  if (moved === undefined) return request;
  const first = Date.parse(moved.from);
  const isFlight = (name: string, value: unknown): value is string =>
    FLIGHT.has(name) && typeof value === "string" && DATED.test(value) && Date.parse(value) >= first;
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, isFlight(name, one) ? later(one, moved.years) : walk(one)]),
    );
  };
  return walk(request) as JsonObject;
}

export const flightsNotice = ({ from, years }: MovedFlights): string =>
  `the suite's orders begin on ${from.slice(0, 10)}, which has passed: flights are asked for ${years} ${years === 1 ? "year" : "years"} later`;
