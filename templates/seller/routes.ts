/** What this seller serves beside its tools: one part per area of the domain. */
import { routes as building } from "./domain/building/routes.js";
import type { Routes } from "./handler.js";

export const routes: readonly Routes[] = [building];
