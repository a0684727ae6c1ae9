/** Who makes delivery reports when they are due: one part per area of the domain. */
import { reports as delivery } from "./domain/delivery/reports.js";
import type { ReportMaker } from "./handler.js";

export const reports: readonly ReportMaker[] = [delivery];
