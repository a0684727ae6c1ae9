/** What every store must do: one body, run against each. */
import { suite } from "uvu";
import type { Effect, Store } from "../../runtime/store/types.js";
import type { CaseContext, Cases } from "./cases/case.js";
import { claims } from "./cases/claims.js";
import { inbox } from "./cases/inbox.js";
import { nonces } from "./cases/nonces.js";
import { registrations } from "./cases/registrations.js";
import { together } from "./cases/together.js";

export interface StoreCase<Tx> {
  readonly name: string;
  /** Another handle on the same, fresh database as long as `reset` is not called. */
  open(): Promise<Store<Tx>>;
  reset(): Promise<void>;
  record(value: string): Effect<Tx>;
  recorded(store: Store<Tx>): Promise<string[]>;
  /** After the last. */
  end?(): Promise<void>;
}

const cases: Cases = { ...claims, ...inbox, ...registrations, ...nonces, ...together };

export function storeCase<Tx>({ name, open, reset, record, recorded, end }: StoreCase<Tx>): void {
  const test = suite<{ store: Store<Tx> }>(name);
  test.before.each(async (context) => {
    await reset();
    context.store = await open();
  });
  test.after.each(async (context) => context.store.close());
  test.after(async () => end?.());
  for (const [title, holds] of Object.entries(cases)) {
    test(title, ({ store }) => holds({ store, open, record, recorded } as unknown as CaseContext));
  }
  test.run();
}
