/** Date-times as nearly all of them are written, told at a look; the format's own function judges the others. */

/** In UTC, on a day every month has, without a leap second: what is of this form is a date-time, whatever the year. */
const usual = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

/** The same verdicts as `whole`, sooner: it takes a string apart into parts and numbers, and bodies have dozens. */
export const quickDateTime =
  (whole: (text: string) => boolean) =>
  (text: string): boolean =>
    usual.test(text) || whole(text);
