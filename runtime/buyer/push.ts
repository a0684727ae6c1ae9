/** Webhooks of a call: announced to the receiver before the seller hears of them (docs/protocol/webhooks.md#registration). */
import {
  type AnyTool,
  answersLater,
  channelTools,
  isJsonObject,
  type JsonObject,
  type ProtocolError,
  type Release,
  type TerminalStatus,
} from "../contract/index.js";
import { derivedId } from "./derived-id.js";
import type { BuyerSettings } from "./settings.js";

export interface RegisteredPush {
  readonly operationId: string;
  readonly config: JsonObject;
  /** No webhook will come: the call was refused. */
  forget(): Promise<void>;
  /** The call ended at once: no webhook of it will come, but events of the media buy that it made or changed. */
  ended(status: TerminalStatus): Promise<void>;
}

/**
 * The operation id of a call. Under the same key it is the same one: a repeated request is then equal to the first, as
 * sellers ask of a replay, and the receiver still expects what the first one registered.
 */
async function operationIdOf(
  key: string | undefined,
  { uuid }: Pick<BuyerSettings, "uuid">,
  what = "operation",
): Promise<string> {
  return key === undefined ? uuid() : derivedId(`${what} ${key}`);
}

/** Registrations that a request may carry, each with what its operation is made of. */
const channels = { push_notification_config: "operation", reporting_webhook: "reporting" } as const;

/** A request whose registrations name an operation each: what is told under one without is told to nobody by some sellers. */
export async function withOperations(
  request: JsonObject,
  key: string | undefined,
  settings: Pick<BuyerSettings, "uuid">,
): Promise<JsonObject> {
  const named: JsonObject = {};
  for (const [name, what] of Object.entries(channels)) {
    const config = request[name];
    if (!isJsonObject(config) || config.operation_id !== undefined) continue;
    named[name] = { ...config, operation_id: await operationIdOf(key, settings, what) };
  }
  return { ...request, ...named };
}

interface RegisteredCall {
  readonly tool: AnyTool;
  readonly release: Release;
  readonly key: string | undefined;
  /** Another call may have the same operation: its webhooks are not this one's to take back. */
  readonly shared: boolean;
}

/**
 * Registers a webhook for one call, where the buyer has a receiver and the tool may answer later.
 * @throws AdbindError of the receiver, when it does not know the seller or the mode
 */
export async function registerWebhook(
  settings: BuyerSettings,
  { tool, release, key, shared }: RegisteredCall,
): Promise<RegisteredPush | undefined> {
  const { webhooks } = settings;
  if (webhooks === undefined || !answersLater(tool)) return undefined;
  const { receiver, url, route, sender, authentication } = webhooks;
  const operationId = await operationIdOf(key, settings);
  const mode = authentication?.scheme ?? "signature";
  const { version } = release;
  await receiver.expect({ route, sender, kind: "task", mode, operationId, taskType: tool.name, release: version });
  const forget = async (): Promise<void> => {
    if (!shared) await receiver.forget(route, operationId);
  };
  return {
    operationId,
    config: {
      url,
      operation_id: operationId,
      ...(authentication !== undefined && {
        authentication: { schemes: [authentication.scheme], credentials: authentication.credentials },
      }),
    },
    forget,
    async ended(status) {
      if (status !== "completed") await forget();
      else if (!channelTools.has(tool.name)) await receiver.forget(route, operationId);
    },
  };
}

/** Whether what is wrong with a call is its registration. */
export const refusesWebhook = (error: ProtocolError | undefined): boolean =>
  typeof error?.field === "string" && /(^|[./])push_?notification_?config/i.test(error.field);
