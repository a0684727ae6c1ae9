/** The floor of delivering: signs and posts, and keeps nothing. */
import { randomUUID } from "node:crypto";
import { type Contender, EVENT_TEXT } from "./queue-contender.js";

/** What one destination may have out, of ours too. */
const CONCURRENCY = 64;

/** Has no database: `url` is where it posts to. Goes on until it is stopped. */
export const loop: Contender = {
  name: "loop",
  produce: async () => ({ store: async () => undefined, close: async () => undefined }),
  async work({ url, post, sent }) {
    const event = { idempotency_key: randomUUID(), task_id: "t", status: "working", message: EVENT_TEXT };
    const body = Buffer.from(JSON.stringify(event));
    let goesOn = true;
    const one = async (): Promise<void> => {
      while (goesOn) {
        await post(url, body);
        sent();
      }
    };
    let all: Promise<unknown> = Promise.resolve();
    return {
      async begin() {
        all = Promise.all(Array.from({ length: CONCURRENCY }, one));
      },
      async stop() {
        goesOn = false;
        await all;
      },
    };
  },
};
