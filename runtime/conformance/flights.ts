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
const DAY_LENGTH = "2026-01-31".length;
/** An agent may want to be told of an order before it begins, in milliseconds. */
const AHEAD_MS = 86_400_000;

/** A date of an order that has to lie ahead. */
interface OrderDate {
  readonly from: string;
  /** An order that begins at once has its end. */
  readonly what: "begin" | "end";
}

/** `from` is when the first order of the suite begins, or ends where it begins at once, as the suite has it. */
export interface MovedFlights extends OrderDate {
  /** How many years later it is asked for. */
  readonly years: number;
}

const isLeap = (year: number): boolean => new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;

function later(date: string, years: number): string {
  const [, year = "", day = "", time = ""] = DATED.exec(date)!;
  const to = Number(year) + years;
  // What is to end never does so by the last year that a date can be written with.
  if (to > 9999) return date;
  return `${String(to).padStart(4, "0")}-${day === "02-29" && !isLeap(to) ? "02-28" : day}${time}`;
}

const isDate = (value: unknown): value is string =>
  typeof value === "string" && DATED.test(value) && !Number.isNaN(Date.parse(value));

function dateOf({ start_time: start, end_time: end }: JsonObject): OrderDate | undefined {
  if (isDate(start)) return { from: start, what: "begin" };
  return start === "asap" && isDate(end) ? { from: end, what: "end" } : undefined;
}

/**
 * Dates of orders that are to be accepted, in the order of time. What is refused, or taken by some agents only, may be so for a flight
 * that has passed.
 */
const ordersOf = (suite: Suite): OrderDate[] =>
  suite.storyboards
    .flatMap(({ phases }) => phases.flatMap(({ optional, steps }) => (optional === true ? [] : steps)))
    .filter(({ task, expect_error: refused }) => task === "create_media_buy" && refused !== true)
    .flatMap(({ sample_request: request }) => (isJsonObject(request) ? (dateOf(request) ?? []) : []))
    .sort((a, b) => Date.parse(a.from) - Date.parse(b.from));

/** @param now unix milliseconds @returns undefined where no order of the suite has begun by then, nor ended that was to begin at once */
export function movedFlights(suite: Suite, now: number): MovedFlights | undefined {
  const [first] = ordersOf(suite);
  if (first === undefined || Date.parse(first.from) > now) return undefined;
  const { from } = first;
  const least = new Date(now).getUTCFullYear() - new Date(from).getUTCFullYear();
  const years = Date.parse(later(from, least)) > now + AHEAD_MS ? least : least + 1;
  return { ...first, years };
}

/** A request with its flights moved: what begins or ends no sooner than the first order of the suite does. */
export function withMovedFlights(request: JsonObject, moved: MovedFlights | undefined): JsonObject {
  if (moved === undefined) return request;
  const first = Date.parse(moved.from);
  // A day without a time has no zone either: it is the one that the order names.
  const isLater = (date: string): boolean =>
    date.length === DAY_LENGTH ? date >= moved.from.slice(0, DAY_LENGTH) : Date.parse(date) >= first;
  const isFlight = (name: string, value: unknown): value is string =>
    FLIGHT.has(name) && typeof value === "string" && DATED.test(value) && isLater(value);
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, isFlight(name, one) ? later(one, moved.years) : walk(one)]),
    );
  };
  return walk(request) as JsonObject;
}

export const flightsNotice = ({ from, what, years }: MovedFlights): string =>
  `the suite's orders ${what} on ${from.slice(0, 10)}, which has passed: flights are asked for ${years} ${years === 1 ? "year" : "years"} later`;
