/** A sender on several databases: each has its own tasks, queue and deliverer, and a principal is in one of them. */
import { AdbindError } from "../../errors.js";
import { waitWithin } from "../../queue/pauses.js";
import type { PrincipalStore } from "../../store/split/principals.js";
import { addedHealth, type SenderHealth } from "../health.js";
import { openingRest } from "../opening.js";
import { type Sender, STOP_MS } from "../sender.js";
import type { SenderOptions } from "../types.js";
import { inEach, splitChannels, splitNotifications } from "./channels.js";
import { type OneSender, openSenders, type SplitSenders } from "./members.js";
import { splitOutbox } from "./outbox.js";
import { splitTasks } from "./tasks.js";

/** @throws AdbindError as `createSender`, and what a database says that cannot be opened, where none can */
export async function splitSender(options: SenderOptions & { readonly store: PrincipalStore }): Promise<Sender> {
  const senders = await openSenders(options, splitTasks);
  const { shared } = senders;
  const health = (): Promise<SenderHealth> => healthOf(senders, options.store);
  const running = deliverers(senders, options.logger);
  let unobserve: (() => void) | undefined;
  return {
    tasks: splitTasks(senders),
    channels: splitChannels(senders),
    notifications: splitNotifications(senders, options.uuid),
    outbox: splitOutbox(senders),
    async activity(request) {
      const records = await senders.look(request.principal, async ({ sender }) => {
        const found = await sender.activity(request);
        return found.length === 0 ? undefined : found;
      });
      return records ?? [];
    },
    health,
    async resealSecrets() {
      const total = { resealed: 0, current: 0, lost: 0, foreign: 0 };
      await inEach(senders, async ({ sender }) => {
        const came = await sender.resealSecrets();
        for (const key of ["resealed", "current", "lost", "foreign"] as const) total[key] += came[key];
      });
      return total;
    },
    start() {
      running.start();
      unobserve ??= shared.metrics.observe(health);
    },
    async stop(given) {
      unobserve?.();
      await waitWithin(running.stop(), STOP_MS.closing);
      const left = await Promise.all([...senders.opened.values()].map(({ sender }) => sender.stop(given)));
      await waitWithin(shared.close(), STOP_MS.closing);
      return left.reduce((sum, one) => sum + one, 0);
    },
  };
}

/** Has each database's events delivered, and those of one that was away as soon as it can be opened. */
function deliverers(senders: SplitSenders, logger: SenderOptions["logger"]) {
  const { router, opened } = senders;
  const opening = openingRest(async () => {
    if (opened.size < router.members.size) await senders.openRest();
  }, logger);
  let begun = false;
  senders.onOpen(({ sender }) => {
    if (begun) sender.start();
  });
  return {
    start() {
      if (begun) return;
      begun = true;
      for (const { sender } of opened.values()) sender.start();
      opening.start();
    },
    async stop() {
      begun = false;
      await opening.stop();
    },
  };
}

/** @throws AdbindError `database_unreachable`, so that the store knows as well */
async function answered({ name, sender }: OneSender): Promise<SenderHealth> {
  const health = await sender.health();
  if (health.reachable) return health;
  throw new AdbindError("database_unreachable", "the database of a sender cannot be reached", { where: name });
}

/** How all of them are; those that are away are told of, and the numbers are of the others. */
async function healthOf(senders: SplitSenders, store: PrincipalStore): Promise<SenderHealth> {
  const answers = await senders.everywhere(answered);
  const there = answers.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const away = store.databases().flatMap(({ name, reachable }) => (reachable ? [] : [name]));
  const lost = answers.length - there.length;
  const { problems, ...numbers } = addedHealth(there);
  const gone = lost === 0 ? [] : [`${lost} of ${answers.length} databases cannot be reached: ${away.join(", ")}`];
  return {
    ok: lost === 0 && problems.length === 0,
    reachable: there.length > 0,
    problems: [...gone, ...problems],
    ...numbers,
    keepsSecrets: senders.shared.keyring.seals,
  };
}
