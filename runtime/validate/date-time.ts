/** Date-times as nearly all of them are written, told at a look; the format's own function judges the others. */

/** In UTC, on a day its month has in every year, without a leap second: what is of this form is a date-time. */
const usual =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

/** The same verdicts as `whole`, sooner: it takes a string apart into parts and numbers, and bodies have dozens. */
export const quickDateTime =
  (whole: (text: string) => boolean) =>
  (text: string): boolean =>
    usual.test(text) || whole(text);
