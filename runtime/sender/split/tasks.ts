/** Tasks of a sender on several databases. */
import { AdbindError } from "../../errors.js";
import type { Tasks } from "../tasks.js";
import type { Emitted, Registered } from "../types.js";
import type { SplitSenders } from "./members.js";
import { owned } from "./owned.js";
import { type Owners, taskOwners } from "./owners.js";

const nothing: Emitted = { keys: [] };

const several = (taskId: string): AdbindError =>
  new AdbindError("split_wrong_database", "changes that are made together are of tasks of several principals", {
    where: `task ${taskId}`,
    remedy: "change the tasks of one principal at a time: another's may be in another database",
  });

/** Changes and registrations without a transaction of the application's. */
function tasksOutside(senders: SplitSenders, owners: Owners) {
  const oneOwner = async (ids: readonly string[]): Promise<string | undefined> => {
    let principal: string | undefined;
    for (const id of new Set(ids)) {
      const owner = await owners.of(id);
      if (principal !== undefined && owner !== undefined && owner !== principal) throw several(id);
      principal ??= owner;
    }
    return principal;
  };
  const updateAll = async (
    changes: Parameters<Tasks["updateAll"]>[0],
    given: string | undefined,
  ): Promise<readonly Emitted[]> => {
    const principal = given ?? (await oneOwner(changes.map(({ taskId }) => taskId)));
    if (principal === undefined) return changes.map(() => nothing);
    return senders.at(principal, (one) => one.sender.tasks.updateAll(changes, { principal }));
  };
  const registered = async (...given: Parameters<Tasks["register"]>): Promise<Registered> => {
    const [{ taskId, principal }] = given;
    owners.note(taskId, principal);
    let answer: Registered | undefined;
    try {
      answer = await senders.at(principal, (one) => one.sender.tasks.register(...given));
      return answer;
    } finally {
      if (answer?.ok !== true) owners.forget(taskId);
    }
  };
  return { updateAll, registered };
}

export function splitTasks(senders: SplitSenders): Tasks {
  const owners = taskOwners(senders);
  const { updateAll, registered } = tasksOutside(senders, owners);
  return {
    check: (...given) => senders.any().sender.tasks.check(...given),
    register(start, channels, options = {}) {
      const { tx } = options;
      if (tx === undefined) return registered(start, channels);
      return senders.within(tx, (one) => one.sender.tasks.register(start, channels, options));
    },
    attach(start, a2a, options = {}) {
      const { tx } = options;
      if (tx === undefined) return senders.at(start.principal, (one) => one.sender.tasks.attach(start, a2a));
      return senders.within(tx, (one) => one.sender.tasks.attach(start, a2a, options));
    },
    attached: (taskId, options = {}) =>
      owned(senders, { owners, names: [taskId] }, options, (one, principal) =>
        one.sender.tasks.attached(taskId, { ...options, principal }),
      ),
    hold(start, reporting, options = {}) {
      const { tx } = options;
      if (tx === undefined) return senders.at(start.principal, (one) => one.sender.tasks.hold(start, reporting));
      return senders.within(tx, (one) => one.sender.tasks.hold(start, reporting, options));
    },
    held(taskId, options = {}) {
      const held = owned(senders, { owners, names: [taskId] }, options, (one, principal) =>
        one.sender.tasks.held(taskId, { ...options, principal }),
      );
      return held instanceof Promise ? held.then((given) => given ?? {}) : (held ?? {});
    },
    update(taskId, change, options = {}) {
      const emitted = owned(senders, { owners, names: [taskId] }, options, (one, principal) =>
        one.sender.tasks.update(taskId, change, { ...options, principal }),
      );
      return emitted instanceof Promise ? emitted.then((given) => given ?? nothing) : (emitted ?? nothing);
    },
    forget(taskId, principal, { tx } = {}) {
      owners.forget(taskId);
      if (tx === undefined) return senders.at(principal, (one) => one.sender.tasks.forget(taskId, principal));
      return senders.within(tx, (one) => one.sender.tasks.forget(taskId, principal, { tx }));
    },
    updateAll(changes, options = {}) {
      const { tx, principal } = options;
      if (tx === undefined) return updateAll(changes, principal);
      const names = changes.map(({ taskId }) => taskId);
      const emitted = owned(senders, { owners, names }, options, (one) => one.sender.tasks.updateAll(changes, options));
      return emitted instanceof Promise ? emitted.then((given) => given ?? []) : (emitted ?? []);
    },
  };
}
