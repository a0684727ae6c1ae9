/** The outbox of a sender on several databases: numbers of events say their database too. */
import { AdbindError } from "../../errors.js";
import { KeyspaceElsewhere } from "../../store/split/elsewhere.js";
import { innerId, outerId } from "../../store/split/ids.js";
import { SLOTS } from "../../store/split/placement.js";
import type { KeyspaceRow } from "../../store/split/rows.js";
import { addedCounts } from "../health.js";
import { checkSoughtNames } from "../ids.js";
import { isKnown, namesNear, OR_AHEAD, OR_MOVED, unknownEndpoint } from "../known-endpoints.js";
import type { Moved } from "../move.js";
import type { EndpointEntry, Outbox } from "../operators.js";
import { inEach } from "./channels.js";
import type { OneSender, SplitSenders } from "./members.js";

const LIST_LIMIT = 100;

/** What every database answered. @throws what the first said that failed */
async function all<T>(senders: SplitSenders, ask: (one: OneSender) => Promise<T>): Promise<T[]> {
  const answers = await senders.everywhere(ask);
  const failed = answers.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return answers.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

const sumOf = <T extends object>(parts: readonly T[], key: keyof T): number =>
  parts.reduce((sum, one) => sum + (one[key] as number), 0);

/** What a database says of a principal whose events are not to be changed there. */
const rowOf = (error: unknown): KeyspaceRow | undefined =>
  error instanceof KeyspaceElsewhere && error.found.why === "row" ? error.found.row : undefined;

const standing = (endpoint: string): AdbindError =>
  new AdbindError("split_moving", "the endpoint's principal is being moved to another database", {
    where: endpoint,
    remedy: "try again in some seconds: what has another URL already keeps it",
  });

const hasGone = (id: number, to: string): AdbindError =>
  new AdbindError("split_wrong_database", `the event's principal has moved to the database ${to}`, {
    where: `event ${id}`,
    remedy: "nothing was changed; list the events again, they have other numbers now",
  });

/** Waits while the event's principal stands still. @throws AdbindError `split_moving`, `split_wrong_database` */
async function changed(
  senders: SplitSenders,
  outer: number,
  work: (outbox: Outbox, id: number) => Promise<boolean>,
): Promise<boolean> {
  const { id, name } = innerId(senders.router, outer);
  if (name === undefined) return false;
  const came = await senders.inside(name, ({ sender }) =>
    work(sender.outbox, id).catch((error: unknown) => {
      const row = rowOf(error);
      if (row === undefined || row.state === "moving") throw error;
      throw hasGone(outer, row.peer!);
    }),
  );
  return came !== "gone" && came;
}

/** Names at the same host, in whichever database. */
const nearEverywhere = async (senders: SplitSenders, endpoint: string): Promise<string[]> =>
  (await all(senders, (one) => namesNear(one, endpoint))).flat();

/** A database that knows nothing of an endpoint is not the only one. */
async function movedIn({ sender }: OneSender, endpoint: string, url: string): Promise<Moved[]> {
  try {
    return [await sender.outbox.move(endpoint, url)];
  } catch (error) {
    if (error instanceof AdbindError && error.code === "endpoint_unknown") return [];
    throw error;
  }
}

/** @throws AdbindError `split_moving`, `endpoint_unknown` */
async function movedEverywhere(senders: SplitSenders, endpoint: string, url: string): Promise<Moved> {
  const answers = await all(senders, (one) => movedIn(one, endpoint, url)).catch((error: unknown) => {
    throw rowOf(error) === undefined ? error : standing(endpoint);
  });
  const moved = answers.flat();
  if (moved.length === 0) throw unknownEndpoint(endpoint, await nearEverywhere(senders, endpoint), OR_MOVED);
  const there = moved.find((one) => one.endpoint !== endpoint);
  const sum = (key: "registrations" | "events" | "sealed" | "unproved"): number => sumOf<Moved>(moved, key);
  return {
    endpoint: there?.endpoint ?? endpoint,
    ...{ registrations: sum("registrations"), events: sum("events") },
    ...{ sealed: sum("sealed"), unproved: sum("unproved") },
    unreadable: moved.flatMap(({ unreadable }) => unreadable),
  };
}

export function splitOutbox(senders: SplitSenders): Outbox {
  const { router } = senders;
  const inside = async <T>(outer: number, gone: T, work: (outbox: Outbox, id: number) => Promise<T>): Promise<T> => {
    const { id, name } = innerId(router, outer);
    const answers = await all(senders, async (one) => (one.name === name ? [await work(one.sender.outbox, id)] : []));
    return answers.flat()[0] ?? gone;
  };
  const outer = (name: string, id: number): number => outerId(router, name, id);
  return {
    async list({ after = 0, limit = LIST_LIMIT, ...filter } = {}) {
      const used = new Set(router.used().map(({ name }) => name));
      const lists = await all(senders, async ({ name, sender }) => {
        if (!used.has(name)) return [];
        const first = Math.max(0, Math.ceil((after + 1 - outer(name, 0)) / SLOTS) - 1);
        const entries = await sender.outbox.list({ ...filter, limit, after: first });
        return entries.map((entry) => ({ ...entry, id: outer(name, entry.id) }));
      });
      return lists
        .flat()
        .sort((a, b) => a.id - b.id)
        .slice(0, limit);
    },
    show: (id) =>
      inside(id, undefined, async (outbox, inner) => {
        const event = await outbox.show(inner);
        return event && { ...event, id };
      }),
    async counts() {
      const counts = await all(senders, ({ sender }) => sender.outbox.counts());
      return addedCounts(counts);
    },
    retry: (id) => changed(senders, id, (outbox, inner) => outbox.retry(inner)),
    replay: (id) => changed(senders, id, (outbox, inner) => outbox.replay(inner)),
    drop: (id, meant) => changed(senders, id, (outbox, inner) => outbox.drop(inner, meant)),
    move: (endpoint, url) => movedEverywhere(senders, endpoint, url),
    async endpoints({ after = "", limit = LIST_LIMIT } = {}) {
      const lists = await all(senders, ({ sender }) => sender.outbox.endpoints({ after, limit }));
      return joined(lists.flat()).slice(0, limit);
    },
    pause: (endpoint, { ahead = false } = {}) => pauseWhere(senders, endpoint, ahead),
    async resume(endpoint) {
      return (await all(senders, ({ sender }) => sender.outbox.resume(endpoint))).includes(true);
    },
  };
}

/**
 * Where something waits for it; where nothing does yet, it will be in whichever database has its principal.
 * @throws AdbindError `endpoint_unknown`
 */
async function pauseWhere(senders: SplitSenders, endpoint: string, ahead: boolean): Promise<void> {
  checkSoughtNames({ endpoint });
  if (!ahead && !(await all(senders, (one) => isKnown(one, endpoint))).includes(true))
    throw unknownEndpoint(endpoint, await nearEverywhere(senders, endpoint), OR_AHEAD);
  const waits = await all(senders, async ({ name, sender }) =>
    (await sender.outbox.list({ endpoint, limit: 1 })).length > 0 ? [name] : [],
  );
  const names = waits.flat();
  await inEach(senders, async ({ name, sender }) => {
    if (names.length === 0 || names.includes(name)) await sender.outbox.pause(endpoint, { ahead: true });
  });
}

/** An endpoint that several databases know, of a principal that moves, is one. */
function joined(entries: readonly EndpointEntry[]): EndpointEntry[] {
  const byName = new Map<string, EndpointEntry>();
  for (const entry of entries) {
    const other = byName.get(entry.endpoint);
    const first = other === undefined || other.waiting < entry.waiting ? entry : other;
    byName.set(entry.endpoint, { ...first, waiting: entry.waiting + (other?.waiting ?? 0) });
  }
  return [...byName.values()].sort((a, b) => (a.endpoint < b.endpoint ? -1 : 1));
}
