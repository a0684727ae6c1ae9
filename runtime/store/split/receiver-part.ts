/** What a receiver has in one database of a set. */
import type { ReceiverStore } from "../types.js";
import type { Router } from "./router.js";

export interface ReceiverPart<Tx> {
  readonly name: string;
  readonly store: ReceiverStore<Tx>;
}

export type ReceiverRouter<Tx> = Router<ReceiverPart<Tx>>;
