/** The lists of published steps that do not say what their text says. Data only; a hash holds each to the text it is about. */

export interface FaultyStep {
  /** Version of the suite. */
  readonly release: string;
  readonly storyboard: string;
  readonly step: string;
  /** Hash of the step as published: a suite that mends it is judged by what it then says. */
  readonly hash: string;
  /** The sentence of the published text that the step contradicts, and where it stands. */
  readonly contradicts: string;
}

const otherBeta =
  "universal/version-negotiation.yaml: VERSION_UNSUPPORTED is the answer to a buyer that pins a release outside the seller's supported_versions; the step pins 3.2-beta.3 in the suite of 3.2.0-beta.4";

export const faultySteps: readonly FaultyStep[] = [
  {
    release: "3.2.0-beta.4",
    storyboard: "media_buy_seller/get_products_rejected",
    step: "force_get_products_rejected",
    hash: "1b3fb47520d6",
    contradicts: otherBeta,
  },
];

/** Steps whose text takes a structured error as well as a success, and that have no mark for it. */
export interface EitherStep {
  readonly storyboard: string;
  readonly step: string;
  readonly hashes: readonly string[];
  /** The sentence that says so. */
  readonly says: string;
}

export const eitherSteps: readonly EitherStep[] = [
  {
    storyboard: "error_compliance",
    step: "missing_fields",
    hashes: ["ae4384753304", "217b273264e3"],
    says: "Either return products or return a structured error. Both are valid.",
  },
];
