/**
 * What is taken of a registration as it comes on the wire. Releases let it have members of any name, and in its row stands what
 * the sender notes of it: where its events go, and whether it was proved. So nothing is taken but what the sender goes by.
 */
import type { ChannelRow } from "../store/sender-tables.js";
import type { AnyConfig } from "./registered-config.js";
import type { NotificationConfig } from "./types.js";

const PUSH = ["url", "operation_id", "token", "authentication"];

const members: Readonly<Record<string, readonly string[]>> = {
  a2a: ["id", "url", "token", "authentication"],
  events: [...PUSH, "coalescenceOptIn"],
  reporting: [...PUSH, "reporting_frequency", "requested_metrics"],
};

const picked = <T extends object>(of: T, names: readonly string[]): T =>
  Object.fromEntries(Object.entries(of).filter(([name]) => names.includes(name))) as T;

/**
 * @param kind the way of a task, or a channel's kind
 * @param config one that was judged
 */
export function takenConfig<Config extends AnyConfig>(kind: ChannelRow["kind"], config: Config): Config {
  const { authentication, ...rest } = picked(config, members[kind] ?? PUSH);
  const named = authentication && { authentication: picked(authentication, ["schemes", "credentials"]) };
  return { ...rest, ...named } as Config;
}

/** What the sender notes of a notification config beside what its caller gave, who is shown the rest again. */
const noted: readonly string[] = ["proven", "moved", "known", "revision", "sealed", "tokened", "endpoint"];

export const takenNotification = (config: NotificationConfig): NotificationConfig =>
  picked(
    config,
    Object.keys(config).filter((name) => !noted.includes(name)),
  );
