/** No account exists before a buyer names one. */
import type { Fixture } from "../../documents.js";

export const fixtures: readonly Fixture[] = [];
