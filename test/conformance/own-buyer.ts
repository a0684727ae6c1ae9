/** Our own buyer and receiver, as an application has them, doing what a buyers' storyboard asks. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createBuyer, type InvalidMessage } from "../../runtime/buyer/index.js";
import type { BuyerTask } from "../../runtime/conformance/index.js";
import type { Answer, AnyArms, JsonObject, Release } from "../../runtime/contract/index.js";
import { nodeListener } from "../../runtime/receiver/index.js";
import { staticKeys } from "../../runtime/signing/index.js";
import { createTestReceiver } from "../../runtime/testing/index.js";

type Act = (id: unknown) => Promise<void>;

/** A receiver whose handler acts on the end of an order. */
async function receiverFor(release: Release, seller: string, act: Act) {
  const ended = Promise.withResolvers<void>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const keys = (await (await fetch(new URL("/keys", seller))).json()) as { keys: [] };
  const hooks = createTestReceiver({
    release,
    publicUrl,
    sender: seller,
    now: Date.now,
    senderConfig: { keys: staticKeys(keys, { sender: seller }) },
    handlers: {
      fallback: async ({ body }) => {
        const { status, result } = body as { status: string; result: JsonObject };
        if (status !== "completed") return;
        await act(result.media_buy_id);
        ended.resolve();
      },
    },
  });
  server.on("request", nodeListener(hooks.receiver));
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await hooks.close();
  };
  return { receiver: hooks.receiver, url: `${publicUrl}/hooks`, ended: ended.promise, close };
}

/** @param onInvalid told of requests and answers that break the release's schemas, the played seller's among them */
export const ownBuyer =
  (release: Release, onInvalid?: (message: InvalidMessage) => void) =>
  async ({ seller, requests, brief }: BuyerTask): Promise<JsonObject> => {
    const { request } = requests.find(({ task }) => task === "create_media_buy")!;
    const pause: Act = async (id) => {
      await buyer.call("update_media_buy", { account: request.account, media_buy_id: id, paused: true });
    };
    const hooks = /with a webhook/.test(brief) ? await receiverFor(release, seller.url, pause) : undefined;
    const buyer = createBuyer({
      release,
      agent: seller.url,
      allowLocal: true,
      pollMs: 30,
      retry: { baseMs: 20 },
      ...(onInvalid && { onInvalid }),
      ...(hooks && { webhooks: { receiver: hooks.receiver, url: hooks.url, sender: seller.url } }),
    });
    const finish = async ({ status, data }: Answer<AnyArms>): Promise<void> => {
      if (status === "completed") await pause((data as JsonObject).media_buy_id);
    };
    const called = await buyer.call("create_media_buy", request);
    const { status } = called.answer;
    if (status === "input-required") {
      const packages = (request.packages as JsonObject[]).map((one) => ({ ...one, budget: 10_000 }));
      await finish((await buyer.call("create_media_buy", { ...request, packages })).answer);
    } else if (hooks !== undefined) await hooks.ended;
    else await finish(await called.waitForCompletion());
    // What comes late is answered too.
    setTimeout(() => Promise.all([hooks?.close(), buyer.close()]), 1_000).unref();
    return { status };
  };
