/**
 * What is to go at once is due by the server's clock where that of the instance is ahead, as what is added is: else only an instance
 * whose clock is ahead as far could lease it. So it is of what was given back, and of what waited for another under its ordering key.
 */
import { ackFunction } from "./0017-functions.js";
import { LET_NEXT_GO, nextGoFunction, UNATTEMPTED_SINCE } from "./0020-next-go.js";

const CLOCK = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

export const DUE_BY_SERVER = `case when v.due <= at_ms then least(v.due, ${CLOCK}) else coalesce(v.due, j.due) end`;

export const serverClock = `${nextGoFunction({ make: "create or replace", due: `least(at_ms, ${CLOCK})` }).trimStart()}${ackFunction(
  {
    make: "create or replace",
    unattempted: UNATTEMPTED_SINCE,
    due: DUE_BY_SERVER,
    letNextGo: LET_NEXT_GO,
  },
)}`;
