/** `closed` of a channel: open, waiting for its final report, over. */
export const OPEN = 0;
export const CLOSING = 1;
export const CLOSED = 2;
