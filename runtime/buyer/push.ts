/** Webhooks of a call: announced to the receiver before the seller hears of them (service.md, "push_notification_config"). */
import { type AnyTool, isTerminal, type JsonObject, type Release, type TaskStatus } from "../contract.js";
import type { Settings } from "./settings.js";

export interface Registered {
  readonly operationId: string;
  readonly config: JsonObject;
  /** No webhook will come: the call ended at once, or was refused. */
  forget(): Promise<void>;
}

/** Tools without an answer that may come later have no webhooks. */
const mayAnswerLater = (tool: AnyTool): boolean =>
  Object.keys(tool.arms as object).some((status) => !isTerminal(status as TaskStatus));

/**
 * Registers a webhook for one call, where the buyer has a receiver and the tool may answer later.
 * @throws AdbindError of the receiver, when it does not know the seller or the mode
 */
export async function registerWebhook(
  { webhooks, uuid }: Settings,
  tool: AnyTool,
  release: Release,
): Promise<Registered | undefined> {
  if (webhooks === undefined || !mayAnswerLater(tool)) return undefined;
  const { receiver, url, route, sender, authentication } = webhooks;
  const operationId = uuid();
  const mode = authentication?.scheme ?? "signature";
  const { version } = release;
  await receiver.expect({ route, sender, kind: "task", mode, operationId, taskType: tool.name, release: version });
  return {
    operationId,
    config: {
      url,
      operation_id: operationId,
      ...(authentication !== undefined && {
        authentication: { schemes: [authentication.scheme], credentials: authentication.credentials },
      }),
    },
    async forget() {
      await receiver.forget(route, operationId);
    },
  };
}
