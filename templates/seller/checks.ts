/** What is asked before an account's money is spent: one part per area of the domain. */
import { checks as governance } from "./domain/governance/checks.js";
import type { SpendingCheck } from "./handler.js";

export const checks: readonly SpendingCheck[] = [governance];
