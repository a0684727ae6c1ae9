/**
 * What is written before the ad server is told, so that of two calls at one time the second finds what the first has taken: the
 * end of a proposal, and the money of a plan. Where nothing comes of the call it is taken back.
 */
import type { DocumentChange } from "../../store/documents.js";
import { isSpending, isSpendingTurn } from "../governance/spending.js";
import { ENDS } from "../products/proposal-ends.js";

export const isEnd = ({ collection: name }: DocumentChange): boolean => name === ENDS;

export const writtenAhead = (writes: readonly DocumentChange[]): DocumentChange[] =>
  writes.filter((one) => isEnd(one) || isSpending(one) || isSpendingTurn(one));

/** Whose turn it is goes on from what it is: it is not taken back. */
export const takenBack = (writes: readonly DocumentChange[]): DocumentChange[] =>
  writes.filter((one) => isEnd(one) || isSpending(one));
