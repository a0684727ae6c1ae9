import { acquireRights as acquire } from "../domain/brands/grants.js";
import type { Handler } from "../handler.js";

/** Licenses rights for a campaign. */
export const acquireRights: Handler<"acquire_rights"> = (request, call) => call.answer(acquire(call, request));
