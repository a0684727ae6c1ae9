/** The receiver as a fastify plugin. */
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { Tools } from "../contract/index.js";
import { isUnread, nodeRequest, respond } from "./node.js";
import { createReceiver, type Receiver, type ReceiverOptions } from "./receiver.js";

declare module "fastify" {
  interface FastifyInstance {
    /** The receiver of `webhookReceiver`: `app.webhookReceiver.expect(...)`. */
    webhookReceiver: Receiver;
  }
}

export interface PluginRouting {
  /** Paths it answers, in fastify's syntax. Default `/webhooks/*`. */
  readonly paths?: readonly string[];
  /** Where senders may read its limits; false for nowhere. Default `/.well-known/webhook-receiver.json`. */
  readonly descriptorPath?: string | false;
}

/** A receiver of one's own, which one also starts and stops; or the options of one, which the app starts and stops. */
export type PluginOptions<T extends Tools = Tools, Tx = unknown> = PluginRouting &
  ({ readonly receiver: Receiver<Tx> } | ReceiverOptions<T, Tx>);

const NAME = "adbind-webhook-receiver";
const PATHS = ["/webhooks/*"];
const DESCRIPTOR_PATH = "/.well-known/webhook-receiver.json";

const plugin: FastifyPluginAsync<PluginOptions> = async (app, options) => {
  const own = "receiver" in options ? undefined : createReceiver(options);
  const receiver = own ?? (options as { receiver: Receiver }).receiver;
  app.decorate("webhookReceiver", receiver);
  if (own !== undefined) {
    app.addHook("onReady", async () => own.start());
    app.addHook("onClose", async () => void (await own.stop()));
  }
  const { paths = PATHS, descriptorPath = DESCRIPTOR_PATH } = options;
  if (descriptorPath !== false) app.get(descriptorPath, async () => receiver.descriptor);
  await app.register(async (scope) => {
    // Answered before fastify looks at the body: parsing would lose the bytes that are signed, and its limits are others.
    scope.addHook("onRequest", async (request: FastifyRequest, reply) => {
      const answer = await receiver.handle(nodeRequest(request.raw));
      if (isUnread(request.raw, answer)) {
        // What other plugins have set goes with it; the rest of the body is dropped before the connection closes.
        reply.hijack();
        const headers = { ...(reply.getHeaders() as Record<string, string>), ...answer.headers };
        await respond(request.raw, reply.raw, { ...answer, headers });
      } else reply.code(answer.status).headers(answer.headers).send(answer.body);
      return reply;
    });
    for (const url of paths) scope.all(url, async () => undefined);
  });
};

/**
 * Registers a receiver: `app.register(webhookReceiver, webhookOptions({store, senders, release, handlers, publicUrl}))`,
 * or `app.register(webhookReceiver, {receiver})`.
 * @throws AdbindError `receiver_option_invalid` while registering
 */
export const webhookReceiver: FastifyPluginAsync<AnyOptions> = Object.assign(plugin as FastifyPluginAsync<AnyOptions>, {
  // What fastify-plugin would put on it: without a scope of its own, under a name, for one major version.
  [Symbol.for("skip-override")]: true,
  [Symbol.for("fastify.display-name")]: NAME,
  [Symbol.for("plugin-meta")]: { name: NAME, fastify: "5.x" },
});

// biome-ignore lint/suspicious/noExplicitAny: fastify cannot infer a plugin's type parameters; webhookOptions does
type AnyOptions = PluginOptions<any, any>;

/** Types a receiver's options against their release; fastify's `register` loses it. */
export const webhookOptions = <T extends Tools, Tx>(
  options: PluginRouting & ReceiverOptions<T, Tx>,
): PluginRouting & ReceiverOptions<T, Tx> => options;
