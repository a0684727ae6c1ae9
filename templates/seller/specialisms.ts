/** What this seller claims: each names tools it must have, and a conformance suite it must pass. */
export const specialisms = ["sales_guaranteed"] as const;
