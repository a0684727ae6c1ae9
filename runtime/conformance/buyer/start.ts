/** A buyer that is started by a request: the task is posted, and the answer comes when the buyer is done. */
import { readStart } from "../agent/http.js";
import type { BuyerStart } from "./types.js";

/** Bytes of a buyer's result that are read. */
const MAX_BYTES = 1_000_000;

export const startByHttp =
  (url: string, fetch: typeof globalThis.fetch): BuyerStart =>
  async (task, signal) => {
    const body = JSON.stringify(task);
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal,
    });
    const text = await readStart(response, MAX_BYTES);
    if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 200)}`);
    try {
      return JSON.parse(text);
    } catch {
      return text === "" ? {} : { text };
    }
  };
