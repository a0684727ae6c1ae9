import { updateRights as update } from "../domain/brands/grants.js";
import type { Handler } from "../handler.js";

/** Changes a licence. */
export const updateRights: Handler<"update_rights"> = (request, call) => call.answer(update(call, request));
