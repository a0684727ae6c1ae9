import type { Behaviour } from "../frame/behaviour.js";
import { reportUsage } from "./usage.js";

/** What buyers say they have used, of creatives and of media buys. */
export const usageBehaviour: Behaviour = {
  area: "usage",
  needs: ["accounts"],
  tools: { report_usage: reportUsage },
};
