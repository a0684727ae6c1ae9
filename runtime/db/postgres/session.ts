/** What our statements count on, whatever a role or a database has by default. */

/** Each sees what others have committed by then. */
export const LEVEL = "read committed";

/**
 * Values come and go as they are, also where that was set otherwise for an old application: a backslash in a string is a character,
 * NULL in an array is none, and a number has all its digits (a search goes on after the score of the last it told).
 */
export const LITERAL = { standard_conforming_strings: "on", array_nulls: "on", extra_float_digits: "1" } as const;

/** Answers whether a session has all that by itself; no statement of ours has a backslash in a string, so that makes no difference. */
export const HAS_OURS = `current_setting('default_transaction_isolation') = '${LEVEL}'
  and current_setting('array_nulls') = 'on'
  and current_setting('extra_float_digits')::integer > 0`;
