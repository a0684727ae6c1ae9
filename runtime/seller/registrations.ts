/** The webhooks a call registers, by whichever way its transport has. */
import { type AnyTool, answersLater, channelTools, isJsonObject, type JsonObject } from "../contract/index.js";
import type { A2aPushConfig, PushNotificationConfig, TaskChannels } from "../sender/types.js";
import type { Call } from "../transport/answerer.js";
import type { CallPlug } from "./call-plug.js";
import type { ServedRelease, ServedTool } from "./served-releases.js";
import type { SellerSettings } from "./settings.js";
import { refusedBy, ToolError } from "./tool-error.js";

/**
 * A request with the protocol's own registration, which A2A carries beside it: what goes by it later does so whatever the transport was.
 * A2A's native one is no part of it: it has the task's changes alone (docs/protocol/transports.md#registration-channel).
 */
export const registeredArgs = ({ push }: Pick<Call, "push">, args: JsonObject): JsonObject =>
  isJsonObject(push) ? { ...args, push_notification_config: push } : args;

/** Where the caller wants to hear of the task; undefined where it has not said. */
export function channelsOf({ push: beside, a2aPush }: Call, args: JsonObject): TaskChannels | undefined {
  const push = beside ?? args.push_notification_config;
  if (!isJsonObject(push) && !isJsonObject(a2aPush)) return undefined;
  return {
    ...(isJsonObject(push) && { push: push as unknown as PushNotificationConfig }),
    ...(isJsonObject(a2aPush) && { a2a: nativeConfig(a2aPush) }),
  };
}

/**
 * A request as it is kept with its task: what it registers has secrets, which the sender keeps sealed, and no longer than they are
 * needed.
 */
export const withoutRegistrations = ({
  push_notification_config: _push,
  reporting_webhook: _report,
  ...request
}: JsonObject): JsonObject => request;

interface Registering<Tx> {
  readonly plug: CallPlug<Tx>;
  readonly settings: SellerSettings<Tx>;
}

interface RegisteringCall<Tx> {
  readonly args: JsonObject;
  readonly servedRelease: ServedRelease<Tx>;
  readonly served: ServedTool<Tx>;
}

/**
 * Registrations that could not be honoured refuse the call before it has done anything.
 * @throws ToolError UNSUPPORTED_FEATURE, or what the sender refuses them by
 */
export function checkChannels<Tx>(
  { plug, settings: { sender } }: Registering<Tx>,
  call: Call,
  { args, served: { tool }, servedRelease }: RegisteringCall<Tx>,
): void {
  const channels = channelsOf(call, args);
  if (sender === undefined) {
    const field = unsent(tool, channels, args);
    if (field === undefined) return;
    const message = `Webhooks are not sent here: leave ${field} out, and ask instead.`;
    throw new ToolError("UNSUPPORTED_FEATURE", message, { field });
  }
  const { version } = servedRelease.release;
  const refusal =
    plug.refusal(tool.name, args, version) ?? (channels && sender.tasks.check(tool.name, channels, version));
  if (refusal !== undefined) throw refusedBy(refusal.error);
}

/** What a call asks to be told of by webhooks, where it could be: a buy whose reports are promised and never come is paid for blindly. */
function unsent(tool: AnyTool, channels: TaskChannels | undefined, args: JsonObject): string | undefined {
  const persistent = channelTools.has(tool.name);
  if (channels !== undefined && answersLater(tool)) return "push_notification_config";
  if (channels?.push !== undefined && persistent) return "push_notification_config";
  return persistent && isJsonObject(args.reporting_webhook) ? "reporting_webhook" : undefined;
}

/** A2A 1.0 names one scheme where 0.3 and the protocol have a list. */
function nativeConfig(config: JsonObject): A2aPushConfig {
  const { authentication, ...rest } = config;
  const { scheme, ...more } = isJsonObject(authentication) ? authentication : {};
  const named = { ...more, ...(typeof scheme === "string" && { schemes: [scheme] }) };
  return { ...rest, ...(isJsonObject(authentication) && { authentication: named }) } as unknown as A2aPushConfig;
}
