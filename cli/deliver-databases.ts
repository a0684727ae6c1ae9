/** The databases of `adbind deliver`, a sender on each: one that is away keeps nobody's events but its own. */
import { databaseAnswers } from "../runtime/behaviours/health.js";
import { AdbindError } from "../runtime/errors.js";
import type { Logger } from "../runtime/log.js";
import { eachAlone } from "../runtime/queue/periodic.js";
import { createSender, type Sender, type SenderOptions } from "../runtime/sender/index.js";
import { openingRest } from "../runtime/sender/opening.js";
import type { AnyStore, PrincipalStore } from "../runtime/store/index.js";

/** Opens a database, or a split. */
export type OpenDelivered = () => Promise<AnyStore | PrincipalStore>;

interface Running {
  readonly sender: Sender;
  readonly store: AnyStore | PrincipalStore;
}

export interface DeliveredDatabases {
  /** For each database whether it answers. */
  answering(): Promise<boolean[]>;
  /** Lets attempts under way end, and closes all. */
  stop(): Promise<void>;
}

const answers = (database: AnyStore["database"]): Promise<boolean> => databaseAnswers({ database });

async function answering({ store }: Running): Promise<boolean[]> {
  if (!("principals" in store)) return [await answers(store.database)];
  const members = [...store.principals.members.values()];
  return Promise.all(members.map((member) => member.use(({ database }) => answers(database)).catch(() => false)));
}

const isAway = (error: unknown): boolean => error instanceof AdbindError && error.code === "database_unreachable";

/**
 * Begins to deliver from all that can be reached, and from the others as soon as they can.
 * @throws AdbindError what is wrong with a database that answers, or, where none does, with the first
 */
export async function deliverFrom(
  opens: readonly OpenDelivered[],
  options: Omit<SenderOptions, "store"> & { readonly logger: Logger },
): Promise<DeliveredDatabases> {
  const running = new Map<OpenDelivered, Running>();
  const begin = async (open: OpenDelivered): Promise<void> => {
    const store = await open();
    try {
      const sender = await createSender({ ...options, store });
      sender.start();
      running.set(open, { sender, store });
    } catch (error) {
      await store.close();
      throw error;
    }
  };
  const opening = openingRest(
    () =>
      eachAlone(
        opens.filter((open) => !running.has(open)),
        begin,
      ),
    options.logger,
  );
  const delivered: DeliveredDatabases = {
    answering: async () =>
      (
        await Promise.all(
          opens.map((open) => {
            const one = running.get(open);
            return one === undefined ? [false] : answering(one);
          }),
        )
      ).flat(),
    async stop() {
      await opening.stop();
      await Promise.all(
        [...running.values()].map(async ({ sender, store }) => {
          await sender.stop();
          await store.close();
        }),
      );
    },
  };
  const tries = await Promise.allSettled(opens.map(begin));
  const faults = tries.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  const fatal = running.size === 0 ? faults : faults.filter((fault) => !isAway(fault));
  if (fatal.length > 0) {
    await delivered.stop();
    throw fatal[0];
  }
  for (const err of faults) options.logger.warn({ err }, "a database is away: its events wait until it can be opened");
  opening.start();
  return delivered;
}
