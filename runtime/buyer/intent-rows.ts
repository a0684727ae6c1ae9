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
  /** A call whose question it was to answer, and did not. */
  readonly refused?: string | undefined;
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
  const inRow = ({ body }: { readonly body: string }): Intent => JSON.parse(body);
  /** The call that a refused or forgotten answer was to go on as asks again. */
  async function asksAgain(key: string, asked: string | undefined): Promise<DocumentChange[]> {
    const asking = asked === undefined ? undefined : await store.get(at(asked));
    if (asked === undefined || asking === undefined) return [];
    const { answeredBy, ...open } = inRow(asking);
    return answeredBy === key ? [{ ...at(asked), version: asking.version, body: JSON.stringify(open) }] : [];
  }
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
        const answered: Intent = { ...inRow(asking), answeredBy: key };
        const asks = { ...at(asked), version: asking.version, body: JSON.stringify(answered) };
        await store.commit([asks, { ...at(key), version: 0, body: JSON.stringify(intent) }]);
        return true;
      }),
    /** Only what is still there, and does not go on as its answer, is changed. @returns whether it was */
    change: (id: string, body: string | undefined, { instead, refused, effect }: ChangedWith): Promise<boolean> =>
      freshly(async () => {
        const found = await store.get(at(id));
        const others = [...(instead === undefined ? [] : [removed(instead)]), ...(await asksAgain(id, refused))];
        const effects = effect === undefined ? [] : [effect as Effect<unknown>];
        const ours = found !== undefined && inRow(found).answeredBy === undefined;
        if (ours) await store.commit([{ ...at(id), version: found.version, body }, ...others], effects);
        else await store.commit(others);
        return ours;
      }),
    remove: (id: string): Promise<void> =>
      freshly(async () => {
        const found = await store.get(at(id));
        const asked = found && inRow(found).thread.operationOf?.answers;
        await store.commit([removed(id), ...(await asksAgain(id, asked))]);
      }),
    async get(id: string): Promise<Intent | undefined> {
      const found = await store.get(at(id));
      return found === undefined ? undefined : inRow(found);
    },
    list: async (): Promise<readonly Intent[]> => (await store.list(INTENTS, owner)).map(inRow),
  };
};
