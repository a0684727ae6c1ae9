/** What a part of the search's index answers. */
import type { AgentPart } from "../../store/registry-profiles.js";
import type { AgentIndex } from "./agent-index.js";
import { facetCounts, facetTotals, matrixOf } from "./facets.js";
import type { FollowedIndex } from "./mirror.js";
import {
  type AddressedQuestion,
  type Answers,
  type FacetsQuestion,
  type HitsQuestion,
  hitOf,
  PART_FORMAT,
  type PartQuestion,
  partName,
} from "./part-wire.js";
import { Remembered } from "./remembered.js";
import { Scratch, select } from "./select.js";

/** An answer, or why there is none. */
export type PartAnswer =
  | { readonly ok: true; readonly value: Answers[PartQuestion["ask"]] }
  | { readonly ok: false; readonly why: "refused" | "loading" | "behind"; readonly detail: string };

export interface SearchPart {
  /** The index was read. */
  readonly loaded: boolean;
  /** Reads it, or brings it up to date. @param signal ends the reading */
  follow(signal?: AbortSignal): Promise<void>;
  answer(question: AddressedQuestion): Promise<PartAnswer>;
  readonly state: Answers["state"];
}

/** Why a question is not for this part; undefined where it is. */
function mismatch(question: AddressedQuestion, own: AgentPart, store: string | undefined): string | undefined {
  if (question.format !== PART_FORMAT)
    return `this part speaks format ${PART_FORMAT}, and was asked in ${question.format}: run one version of adbind`;
  if (question.part !== own.part || question.of !== own.of)
    return `this is part ${partName(own)}, and was asked as ${partName(question)}: give every part's address in its order`;
  // Whoever does not know his own database asks for the state only, and is told nothing of any agent.
  if (store === undefined || question.store === store || (question.store === undefined && question.ask === "state"))
    return undefined;
  const asked = question.store === undefined ? "without one" : `for ${question.store}`;
  return (
    `this part follows another registry's database (its identity is ${store}, and it was asked ${asked}): ` +
    "start the part with the ADBIND_STORE of those who ask it, or take its address off their list"
  );
}

function hitsOf(index: AgentIndex, followed: FollowedIndex, asked: HitsQuestion, scratch: Scratch): Answers["hits"] {
  const { filters, discovered, seq, after, limit } = asked;
  if (seq < followed.pruned) return { expired: true };
  const hits = select(index, { filters, after, seq, limit, discovered }, scratch);
  return { hits: hits.map(({ slot, key }) => hitOf(key.score, index.read(slot))) };
}

/** What of a question its counts depend on. */
const countedBy = ({ filters, discovered, kept, least }: FacetsQuestion): object => ({
  filters,
  discovered,
  kept,
  least,
});

/**
 * @param followed the part's agents
 * @param own which part it is
 */
export function searchPart(followed: FollowedIndex, own: AgentPart): SearchPart {
  const scratch = new Scratch();
  const counts = new Remembered();
  let loaded = false;
  let store: string | undefined;
  const state = (): Answers["state"] => ({ change: followed.seq, agents: followed.size });
  const answerTo = (question: PartQuestion, index: AgentIndex): Answers[PartQuestion["ask"]] => {
    switch (question.ask) {
      case "hits":
        return hitsOf(index, followed, question, scratch);
      case "facets":
        return counts.answer(followed.revision, countedBy(question), () =>
          facetTotals(index, question, question.least),
        );
      case "counts":
        return { values: facetCounts(index, question, question.values) };
      case "matrix":
        return { counts: matrixOf(index, question.filters, question) };
      case "state":
        return state();
    }
  };
  return {
    get loaded() {
      return loaded;
    },
    get state() {
      return state();
    },
    async follow(signal) {
      store ??= await followed.identity();
      await followed.current(undefined, signal);
      loaded = true;
    },
    async answer(question) {
      const wrong = mismatch(question, own, store);
      if (wrong !== undefined) return { ok: false, why: "refused", detail: wrong };
      if (!loaded) return { ok: false, why: "loading", detail: "this part reads its index" };
      if (question.ask === "state") return { ok: true, value: state() };
      let index: AgentIndex;
      try {
        index = await followed.current(question.at);
      } catch (error) {
        return { ok: false, why: "behind", detail: (error as Error).message };
      }
      return { ok: true, value: answerTo(question, index) };
    },
  };
}
