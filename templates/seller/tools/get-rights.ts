import { findRights } from "../domain/brands/offerings.js";
import type { Handler } from "../handler.js";

/** Finds rights that can be licensed. */
export const getRights: Handler<"get_rights"> = (request, call) => call.answer(findRights(call, request));
