/** A way by which a task is told of, as it is registered. */
import type { ReportingWebhook } from "./buy-configs.js";
import { operationIsInUrl, ownSegment } from "./endpoint-names.js";
import { taskOrderingKey } from "./outbox.js";
import { type AnyConfig, type TaskVia, taskRegistration } from "./registered-config.js";
import { sealedConfig } from "./registered-secrets.js";
import type { SenderReleases } from "./releases.js";
import type { Keyring } from "./sealing.js";
import { takenConfig } from "./taken-config.js";
import type { TaskStart } from "./types.js";

interface TaskChannelParts {
  readonly keyring: Keyring;
  readonly releases: SenderReleases;
  readonly now: () => number;
}

interface TaskChannel<Config extends AnyConfig> {
  readonly via: TaskVia;
  readonly config: Config;
  /** As the push of the task names it. */
  readonly operation: string | undefined;
}

/** What is stored of it. Its URL may carry the operation's id: then its endpoint is that of all operations. */
export function taskChannel<Config extends AnyConfig>(
  { keyring, now, releases }: TaskChannelParts,
  { taskId, principal, release }: TaskStart,
  { via, config, operation }: TaskChannel<Config>,
) {
  const names = {
    registration: taskRegistration(via, taskId),
    orderingKey: taskOrderingKey(via === "a2a" ? via : "push", taskId),
  };
  // Where a registration has no place for it, buyers put it into the URL.
  const inUrl = operationIsInUrl(releases.of(release).release) ? ownSegment(config.url) : undefined;
  return sealedConfig(
    { ...names, config: takenConfig(via, config), principal, operation: operation ?? inUrl },
    keyring,
    now(),
  );
}

/** Where the buy that a task makes is to be reported on. */
export const reportingChannel = (parts: TaskChannelParts, start: TaskStart, config: ReportingWebhook) =>
  taskChannel(parts, start, { via: "reporting", config, operation: config.operation_id });
