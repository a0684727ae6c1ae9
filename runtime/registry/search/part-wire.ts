/**
 * What an instance asks a part of the search's index, and what it is answered: one JSON document over HTTP each way. Every
 * question says which part it takes the other for and how it counts, so that one that is something else refuses it.
 */
import { isJsonObject } from "../../contract/json-object.js";
import type { ClockRow } from "../../store/registry-clock.js";
import type { AgentPart } from "../../store/registry-profiles.js";
import { SEARCH_DIMENSIONS, type SearchDimension, type SearchFilters } from "../types.js";
import type { Key } from "./agent-index.js";
import type { FacetCounting, FacetTotals, Least } from "./facets.js";
import type { ScoredProfile } from "./search.js";

/** To be raised when questions or answers change, or what an index in parts means by an order. */
export const PART_FORMAT = 2;
/** Where a part is asked. */
export const PART_PATH = "/search-part";
/** Longest question, in bytes: no URL with filters is longer. */
export const QUESTION_BYTES = 131_072;
/** Longest answer that is read, in bytes: a page of 200 agents with a hundred values each is below 1 MiB. */
export const ANSWER_BYTES = 8_388_608;
/** Agents of one answer: the longest page of a search, and one more. */
const MOST_HITS = 1_001;

/** Lists by dimension. */
export type Values = Partial<Record<SearchDimension, readonly string[]>>;

/** The next agents of a traversal. */
export interface HitsQuestion {
  readonly ask: "hits";
  readonly filters: SearchFilters;
  readonly discovered: boolean;
  readonly seq: number;
  /** Absent: from the beginning. */
  readonly after?: Key;
  readonly limit: number;
}

/** Counts for a search, of the values with the most agents, or of those with so many. */
export interface FacetsQuestion extends FacetCounting {
  readonly ask: "facets";
  readonly least?: Least;
}

/** How many agents have each of some values. */
export interface CountsQuestion extends FacetCounting {
  readonly ask: "counts";
  readonly values: Values;
}

/** Agents by channel and market, of those given. */
export interface MatrixQuestion {
  readonly ask: "matrix";
  readonly filters: SearchFilters;
  readonly discovered: boolean;
  readonly channels: readonly string[];
  readonly markets: readonly string[];
}

export type PartQuestion = HitsQuestion | FacetsQuestion | CountsQuestion | MatrixQuestion | { readonly ask: "state" };

/** A question as it is sent. */
export type AddressedQuestion = PartQuestion &
  AgentPart & {
    readonly format: number;
    /** Identity of the database whose agents are asked for; absent where only the state is asked, and that is not known. */
    readonly store?: string;
    /** All that can be seen at this clock is to be in the answer; absent: whatever is in the index. */
    readonly at?: ClockRow;
  };

/** An agent that was found: its place, and what is told of it. */
export type WireHit = readonly [
  score: number,
  url: string,
  propertyCount: number,
  publisherCount: number,
  hasTmp: 0 | 1,
  taxonomy: string | null,
  updatedAt: number,
  lists: readonly (readonly string[])[],
];

export const hitOf = (score: number, profile: ScoredProfile): WireHit => [
  score,
  profile.url,
  profile.propertyCount,
  profile.publisherCount,
  profile.hasTmp ? 1 : 0,
  profile.taxonomy,
  profile.updatedAt,
  profile.lists,
];

export const agentOfHit = ([
  _,
  url,
  propertyCount,
  publisherCount,
  hasTmp,
  taxonomy,
  updatedAt,
  lists,
]: WireHit): ScoredProfile => ({
  url,
  score: 0,
  propertyCount,
  publisherCount,
  hasTmp: hasTmp === 1,
  taxonomy,
  updatedAt,
  lists,
});

/** The answers, by question. */
export interface Answers {
  /** `expired`: what changed since the traversal began is not remembered any more. */
  readonly hits: { readonly hits: readonly WireHit[] } | { readonly expired: true };
  readonly facets: FacetTotals;
  readonly counts: { readonly values: Partial<Record<SearchDimension, readonly number[]>> };
  readonly matrix: { readonly counts: readonly (readonly number[])[] };
  readonly state: { readonly change: number; readonly agents: number };
}
export type AnswerTo<Q extends PartQuestion> = Answers[Q["ask"]];

/** Which part of how many, as `2/4`. */
export const partName = ({ part, of }: AgentPart): string => `${part}/${of}`;

/** Most parts: an instance asks all of them for every search. */
export const MOST_PARTS = 64;

/** @returns undefined for what is no part of at most 64 */
export function readPart(text: string): AgentPart | undefined {
  const found = /^([1-9]\d?)\/([1-9]\d?)$/.exec(text);
  if (found === null) return undefined;
  const [part, of] = [Number(found[1]), Number(found[2])];
  return part <= of && of <= MOST_PARTS ? { part, of } : undefined;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === "string");
function isFilters(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { has_tmp, min_properties, ...lists } = value;
  if (has_tmp !== undefined && typeof has_tmp !== "boolean") return false;
  if (min_properties !== undefined && !isCount(min_properties)) return false;
  return isByDimension(lists, isTexts);
}

const isByDimension = (value: unknown, is: (one: unknown) => boolean): boolean =>
  isJsonObject(value) &&
  Object.entries(value).every(([name, one]) => (SEARCH_DIMENSIONS as readonly string[]).includes(name) && is(one));

const isKey = (value: unknown): boolean =>
  isJsonObject(value) && Number.isFinite(value.score) && typeof value.url === "string";
const isClock = (value: unknown): boolean =>
  isJsonObject(value) && [value.seq, value.last, value.pruned].every(isCount);

/** @returns undefined for what no instance asks */
export function readQuestion(value: unknown): AddressedQuestion | undefined {
  if (!isJsonObject(value) || ![value.format, value.part, value.of].every(isCount)) return undefined;
  const { ask, filters, at, after } = value;
  const question = value as unknown as AddressedQuestion;
  if (at !== undefined && !isClock(at)) return undefined;
  if (value.store !== undefined && typeof value.store !== "string") return undefined;
  if (ask === "state") return question;
  if (!isFilters(filters) || typeof value.discovered !== "boolean") return undefined;
  if (value.kept !== undefined && typeof value.kept !== "boolean") return undefined;
  switch (ask) {
    case "hits": {
      const { limit, seq } = value;
      const known = isCount(limit) && (limit as number) >= 1 && (limit as number) <= MOST_HITS && isCount(seq);
      return known && (after === undefined || isKey(after)) ? question : undefined;
    }
    case "facets":
      return value.least === undefined || isByDimension(value.least, isCount) ? question : undefined;
    case "counts":
      return isByDimension(value.values, isTexts) ? question : undefined;
    case "matrix":
      return isTexts(value.channels) && isTexts(value.markets) ? question : undefined;
    default:
      return undefined;
  }
}
