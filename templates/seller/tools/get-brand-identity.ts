import { brandIdentity } from "../domain/brands/brands.js";
import type { Handler } from "../handler.js";

/** Shows what a brand looks and sounds like. */
export const getBrandIdentity: Handler<"get_brand_identity"> = (request, call) =>
  call.answer(brandIdentity(call, request));
