import { previewCreative as preview } from "../domain/building/preview.js";
import type { Handler } from "../handler.js";

/** Shows what a creative will look like. */
export const previewCreative: Handler<"preview_creative"> = (request, call) => call.answer(preview(call, request));
