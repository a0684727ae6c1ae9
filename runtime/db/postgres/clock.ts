/** The server's clock, in unix milliseconds: the one that all instances share. */
export const CLOCK = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
