/**
 * What fails behind a transport's own methods is the seller's: whoever asks has a reference, and the log has the rest. The words of a
 * database name its host, its role and its files, and whoever asks may be anybody.
 */
import type { AgentTasks } from "../transport/answerer.js";
import type { SellerSettings } from "./settings.js";

type Method<Args extends readonly unknown[], T> = (...args: Args) => Promise<T>;

export function untoldFaults(
  { push, ...tasks }: AgentTasks,
  { logger, uuid, mode }: Pick<SellerSettings<never>, "logger" | "uuid" | "mode">,
): AgentTasks {
  const untold =
    <Args extends readonly unknown[], T>(method: string, work: Method<Args, T>): Method<Args, T> =>
    async (...args) => {
      try {
        return await work(...args);
      } catch (error) {
        if (mode === "development") throw error;
        const reference = uuid();
        logger?.error({ err: error, method, reference }, "an agent's task could not be read or changed");
        throw new Error(`It could not be answered; its reference is ${reference}.`);
      }
    };
  return {
    find: untold("find", tasks.find),
    list: untold("list", tasks.list),
    cancel: untold("cancel", tasks.cancel),
    push: push && { attach: untold("attach", push.attach), attached: untold("attached", push.attached) },
  };
}
