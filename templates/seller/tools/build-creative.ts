import { buildCreative as build } from "../domain/building/build.js";
import type { Handler } from "../handler.js";

/** Makes creatives: from the library, from another one, or from words. */
export const buildCreative: Handler<"build_creative"> = (request, call) => call.answer(build(call, request));
