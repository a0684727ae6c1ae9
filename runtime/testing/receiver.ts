/** A receiver on a store of its own that is gone when it is closed, with a seller's key and a clock that stands. */

import type { Release, Tools } from "../contract/index.js";
import { jsonLog } from "../log.js";
import { bindRelease, createReceiver, type Receiver } from "../receiver/receiver.js";
import type {
  BoundRelease,
  ReceivedEvent,
  ReceiverHandlers,
  ReceiverSettings,
  SenderConfig,
} from "../receiver/types.js";
import { type TemporaryStore, type TxOf, temporaryStore } from "../store/index.js";
import { createTestKey, type TestKey } from "./key.js";

/** What effects get of its store. */
type Tx = TxOf<TemporaryStore["store"]>;

/** When the clock of a test receiver stands, by default: 2026-04-18T14:00:00Z. */
export const TEST_NOW_MS = 1_776_520_800_000;

/** A receiver on a store and a clock of its own, for tests. */
export interface TestReceiver {
  readonly receiver: Receiver<Tx>;
  readonly store: TemporaryStore["store"];
  /** The receiver's time, in unix milliseconds; it stands unless it is set. */
  readonly clock: { ms: number };
  /** The seller's key, the one that `sender` is known by. */
  readonly key: TestKey;
  /** What the fallback was given, where no handler is for it. */
  readonly seen: ReceivedEvent[];
  /** Log lines as JSON, at every level. */
  readonly logs: string[];
  /** Stops it, and removes its store. */
  close(): Promise<void>;
}

interface TestSettings extends Partial<ReceiverSettings<Tx>> {
  /** The seller's agent URL. */
  readonly sender: string;
  readonly publicUrl: string;
  /** Name of the seller's key; `test-1` by default. */
  readonly keyid?: string;
  /** What is configured of the seller besides its key. */
  readonly senderConfig?: Partial<SenderConfig>;
}

/** What a receiver for tests is made of. */
export type TestReceiverOptions<T extends Tools> = TestSettings &
  (
    | { readonly release: Release<T>; readonly handlers?: Partial<ReceiverHandlers<T, Tx>>; readonly releases?: never }
    | { readonly releases: readonly BoundRelease<Tx>[]; readonly release?: never; readonly handlers?: never }
  );

/**
 * Makes a receiver that has begun, and believes one seller.
 * @throws AdbindError `receiver_option_invalid`
 */
export function createTestReceiver<T extends Tools>(options: TestReceiverOptions<T>): TestReceiver {
  const { release, releases, sender, handlers, keyid, senderConfig, senders, ...settings } = options;
  const { store, close } = temporaryStore();
  const seen: ReceivedEvent[] = [];
  const [first, ...others] = releases ?? [
    bindRelease<T, Tx>(release, { fallback: (delivery) => void seen.push(delivery), ...handlers }),
  ];
  const clock = { ms: TEST_NOW_MS };
  const key = createTestKey({ word: first!.release.word, ...(keyid !== undefined && { keyid }) });
  const logs: string[] = [];
  const receiver = createReceiver<T, Tx>({
    ...{ store, releases: [first!, ...others], now: () => clock.ms, random: () => 0.5 },
    senders: { ...(senders as Record<string, SenderConfig>), [sender]: { keys: key.keysOf(sender), ...senderConfig } },
    logger: jsonLog({ level: "trace", to: (line) => void logs.push(line) }),
    ...settings,
  });
  receiver.start();
  return {
    ...{ receiver, store, clock, key, seen, logs },
    async close() {
      await receiver.stop();
      await close();
    },
  };
}
