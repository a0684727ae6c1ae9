/** Kept calls as documents: several processes may carry on one, and what one of them has ended must not come back. */
import type { DocumentChange } from "../store/documents.js";
import { INTENTS } from "../store/intent-documents.js";
import type { Effect } from "../store/types.js";
import type { Intent } from "./intent.js";
import type { EndedEffect, IntentStore } from "./types.js";

/** Two processes may carry on one call: so often they may meet at it before one gives up. */
const MAX_ATTEMPTS = 8;

interface ChangedWith {
  /** Another call, which goes on as this one. */
  readonly instead: string | undefined;
  readonly effect?: EndedEffect | undefined;
}

/** Does again what meets another process at the same calls. */
async function freshly<T>(job: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await job();
    } catch (error) {
      if (!(error instanceof Error && error.name === "StaleDocument") || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

export const intentRows = (store: IntentStore, owner: string) => {
  const at = (id: string) => ({ collection: INTENTS, owner, id });
  const removed = (id: string): DocumentChange => ({ ...at(id), version: undefined, body: undefined });
  return {
    async put(intent: Intent): Promise<true> {
      await store.commit([{ ...at(intent.idempotencyKey), version: undefined, body: JSON.stringify(intent) }]);
      return true;
    },
    /**
     * An answer to a question is kept where it is already, or where the call that asks is.
     * @returns false where neither is: that call has come to its end elsewhere
     */
    putAnswer: (intent: Intent, asked: string): Promise<boolean> =>
      freshly(async () => {
        const { idempotencyKey: key } = intent;
        if ((await store.get(at(key))) !== undefined) return true;
        const asking = await store.get(at(asked));
        if (asking === undefined) return false;
        const asks = { ...at(asked), version: asking.version, body: undefined, unchanged: true } as const;
        await store.commit([asks, { ...at(key), version: 0, body: JSON.stringify(intent) }]);
        return true;
      }),
    /** Only what is still there is changed. @returns whether it was */
    change: (id: string, body: string | undefined, { instead, effect }: ChangedWith): Promise<boolean> =>
      freshly(async () => {
        const found = await store.get(at(id));
        const others = instead === undefined ? [] : [removed(instead)];
        const effects = effect === undefined ? [] : [effect as Effect<unknown>];
        if (found === undefined) await store.commit(others);
        else await store.commit([{ ...at(id), version: found.version, body }, ...others], effects);
        return found !== undefined;
      }),
    remove: (id: string): Promise<void> => store.commit([removed(id)]),
    async get(id: string): Promise<Intent | undefined> {
      const found = await store.get(at(id));
      return found === undefined ? undefined : (JSON.parse(found.body) as Intent);
    },
    list: async (): Promise<readonly Intent[]> =>
      (await store.list(INTENTS, owner)).map(({ body }) => JSON.parse(body) as Intent),
  };
};
