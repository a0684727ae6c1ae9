/** Channels and notification configs of a sender on several databases. */
import { randomUUID } from "node:crypto";
import type { Channels } from "../channels.js";
import { AGENTS } from "../notification-configs.js";
import type { PreparedConfigs } from "../notification-sets.js";
import type { NotificationConfigs } from "../notifications.js";
import { refused } from "../registration.js";
import type { Emitted, OwnedOptions } from "../types.js";
import type { OneSender, SplitSenders } from "./members.js";
import { owned } from "./owned.js";
import { buyOwners } from "./owners.js";
import { toldEach } from "./told.js";

const nothing: Emitted = { keys: [] };

export function splitChannels(senders: SplitSenders): Channels {
  const owners = buyOwners(senders);
  const ofBuy = (
    mediaBuyId: string,
    options: OwnedOptions,
    work: (one: OneSender, given: OwnedOptions) => ReturnType<Channels["close"]>,
  ): ReturnType<Channels["close"]> => {
    const emitted = owned(senders, { owners, names: [mediaBuyId] }, options, (one, principal) =>
      work(one, { ...options, principal }),
    );
    return emitted instanceof Promise ? emitted.then((given) => given ?? nothing) : (emitted ?? nothing);
  };
  return {
    check: (...given) => senders.any().sender.channels.check(...given),
    open(buy, channels, options = {}) {
      const { tx } = options;
      if (tx === undefined) return senders.at(buy.principal, (one) => one.sender.channels.open(buy, channels));
      return senders.within(tx, (one) => one.sender.channels.open(buy, channels, options));
    },
    reportIn(buy, timezone, options = {}) {
      const { tx } = options;
      if (tx === undefined) return senders.at(buy.principal, (one) => one.sender.channels.reportIn(buy, timezone));
      return senders.within(tx, (one) => one.sender.channels.reportIn(buy, timezone, options));
    },
    impairment: (id, event, options = {}) =>
      ofBuy(id, options, (one, given) => one.sender.channels.impairment(id, event, given)),
    adjusted: (id, report, options = {}) =>
      ofBuy(id, options, (one, given) => one.sender.channels.adjusted(id, report, given)),
    close: (id, options = {}) => ofBuy(id, options, (one, given) => one.sender.channels.close(id, given)),
    subscribe(kind, of, config, options = {}) {
      const { tx } = options;
      if (tx === undefined) return senders.at(of.principal, (one) => one.sender.channels.subscribe(kind, of, config));
      return senders.within(tx, (one) => one.sender.channels.subscribe(kind, of, config, options));
    },
    notify: (kind, resource, payload, options = {}) =>
      toldEach(
        senders,
        {
          where: `${kind} ${resource}`,
          rows: (one) => one.queue.read((q) => one.tables.subscribers(q, resource, kind)),
          tell: (one, principal) => one.sender.channels.notify(kind, resource, payload, { ...options, principal }),
        },
        options,
      ),
    get declaredWindows() {
      return senders.any().sender.channels.declaredWindows;
    },
    tick: () => inEach(senders, (one) => one.sender.channels.tick()),
  };
}

/** Each has its turn, though another fails. @throws what the first said that failed */
export async function inEach(senders: SplitSenders, work: (one: OneSender) => Promise<unknown>): Promise<void> {
  const failed = (await senders.everywhere(work)).find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

const movedMeanwhile = refused(
  "the configs were being moved to another database: send them again",
  "notification_configs",
  "CONFLICT",
);

export function splitNotifications(senders: SplitSenders, uuid: () => string = randomUUID): NotificationConfigs {
  const prepare: NotificationConfigs["prepare"] = async (scope, configs, options) => {
    const { prepared, name } = await senders.at(scope.principal, async (one) => ({
      prepared: await one.sender.notifications.prepare(scope, configs, options),
      name: one.name,
    }));
    if (!prepared.ok) return prepared;
    const store: PreparedConfigs["store"] = (given = {}) => {
      const { tx } = given;
      // Prepared where the principal was then: it may have moved while endpoints were asked.
      if (tx === undefined)
        return senders.at(scope.principal, (one) => (one.name === name ? prepared.store() : movedMeanwhile));
      return senders.within(tx, () => prepared.store(given));
    };
    return { ...prepared, store };
  };
  return {
    async sync(scope, configs) {
      const prepared = await prepare(scope, configs);
      if (!prepared.ok) return prepared;
      const stored = await prepared.store();
      return stored.ok ? { ok: true, configs: prepared.configs } : stored;
    },
    prepare,
    async read(scope) {
      const read = (one: OneSender) => one.sender.notifications.read(scope);
      const found = await senders.look(scope.principal, async (one) => {
        const set = await read(one);
        return set.version === undefined ? undefined : set;
      });
      return found ?? { id: undefined, version: undefined, configs: [] };
    },
    async list(scope) {
      return (await this.read(scope)).configs;
    },
    tells: (channel, kind) => senders.any().sender.notifications.tells(channel, kind),
    notify(event, options = {}) {
      const named = { ...event, notificationId: event.notificationId ?? uuid() };
      const { principal, account } = event;
      return toldEach(
        senders,
        {
          where: `${event.kind} ${account ?? ""}`.trimEnd(),
          rows: (one) =>
            one.queue.read(function* (q) {
              const ofAccount = account === undefined ? [] : yield* one.tables.subscribers(q, account, "account");
              return [...ofAccount, ...(yield* one.tables.subscribers(q, AGENTS, "agent"))];
            }),
          tell: (one, to) =>
            one.sender.notifications.notify(to === undefined ? named : { ...named, principal: to }, options),
        },
        { ...options, principal },
      );
    },
  };
}
