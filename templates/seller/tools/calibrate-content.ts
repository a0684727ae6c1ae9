import { calibrateContent as judge } from "../domain/standards/judge.js";
import type { Handler } from "../handler.js";

/** Judges one piece of content, with reasons. */
export const calibrateContent: Handler<"calibrate_content"> = (request, call) => call.answer(judge(call, request));
