/**
 * A small buyer that is right in what the buyers' storyboards ask, and can be made wrong in one thing at a time. It speaks
 * JSON-RPC by hand; only signatures are verified by code of ours.
 */
import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { BuyerTask } from "../../runtime/conformance/index.js";
import { isJsonObject, type JsonObject } from "../../runtime/contract/index.js";
import { memoryReplayStore, staticKeys, verifyWebhook } from "../../runtime/signing/index.js";

/** What a buyer can be made to do wrong. */
export const buyerFaults = [
  "polls without end",
  "runs an effect twice",
  "believes a forged webhook",
  "takes submitted as the end",
  "misses input-required",
  "ignores retry_after",
  "new idempotency key on retry",
  "tries a terminal error again",
] as const;

export type BuyerFault = (typeof buyerFaults)[number];

const POLL_MS = 30;
const MAX_TRIES = 4;

interface PolledTask {
  readonly status: string;
  readonly id: string | undefined;
}

class SoundBuyer {
  private readonly seen = new Set<string>();
  private readonly done = new Set<string>();

  constructor(
    private readonly url: string,
    private readonly word: string,
    private readonly fault: BuyerFault | undefined,
  ) {}

  async call(name: string, args: JsonObject): Promise<JsonObject> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
    const response = await fetch(this.url, { method: "POST", headers: { "content-type": "application/json" }, body });
    const { result } = (await response.json()) as { result: { structuredContent: JsonObject } };
    return result.structuredContent;
  }

  private async pause(id: string | undefined, account: unknown): Promise<void> {
    if (this.done.has(String(id)) && this.fault !== "runs an effect twice") return;
    this.done.add(String(id));
    const request = { idempotency_key: randomUUID(), account, media_buy_id: id ?? "unknown", paused: true };
    await this.call("update_media_buy", request);
  }

  /** Sends an order until it is answered, or cannot be. */
  private async order(request: JsonObject): Promise<JsonObject> {
    let key = randomUUID();
    for (let tries = 1; ; tries++) {
      try {
        const answer = await this.call("create_media_buy", { ...request, idempotency_key: key });
        const [error] = Array.isArray(answer.errors) ? answer.errors.filter(isJsonObject) : [];
        const again = error?.recovery === "transient" || this.fault === "tries a terminal error again";
        if (error === undefined || !again || tries >= MAX_TRIES) return answer;
        const seconds = typeof error.retry_after === "number" ? error.retry_after : 0;
        await sleep(this.fault === "ignores retry_after" ? 0 : seconds * 1000);
      } catch (error) {
        if (tries >= MAX_TRIES) throw error;
      }
      if (this.fault === "new idempotency key on retry") key = randomUUID();
    }
  }

  private async poll(task: string, account: unknown): Promise<PolledTask> {
    let told: PolledTask = { status: "working", id: undefined };
    for (let late = 0; late < 10; ) {
      await sleep(POLL_MS);
      const { status, result } = await this.call("get_task_status", { task_id: task, account, include_result: true });
      const id = isJsonObject(result) ? result.media_buy_id : undefined;
      told = { status: String(status), id: typeof id === "string" ? id : undefined };
      if (["submitted", "working", "input-required"].includes(told.status)) continue;
      if (this.fault !== "polls without end") break;
      late += 1;
    }
    return told;
  }

  async buy({ requests, brief }: BuyerTask): Promise<JsonObject> {
    await this.call(`get_${this.word}_capabilities`, {});
    const { request } = requests.find(({ task }) => task === "create_media_buy")!;
    const { account } = request;
    const hooks = /with a webhook/.test(brief) ? await this.listen(account) : undefined;
    try {
      const push = hooks && { push_notification_config: { url: hooks.url, operation_id: randomUUID() } };
      const answer = await this.order({ ...request, ...push });
      const { status, media_buy_id: id, task_id: task } = answer;
      if (status === "submitted" && this.fault === "takes submitted as the end") {
        await this.pause(undefined, account);
        return { status: "done" };
      }
      if (status === "input-required") {
        if (this.fault === "misses input-required") return { status: "done" };
        const packages = (request.packages as JsonObject[]).map((one) => ({ ...one, budget: 10_000 }));
        const second = await this.order({ ...request, packages });
        await this.pause(String(second.media_buy_id), account);
      } else if (status === "submitted" && hooks !== undefined) await hooks.ended;
      else if (status === "submitted") {
        const told = await this.poll(String(task), account);
        if (told.status === "completed") await this.pause(told.id, account);
      } else if (typeof id === "string") await this.pause(id, account);
      return { status: "done" };
    } finally {
      // What comes late is answered too.
      if (hooks !== undefined) setTimeout(() => void hooks.close(), 1_000).unref();
    }
  }

  /** A receiver that acts on the end of the order. */
  private async listen(account: unknown): Promise<{ url: string; ended: Promise<void>; close: () => void }> {
    const { jwks_uri: at } = await this.seller();
    const keys = staticKeys((await (await fetch(at)).json()) as { keys: [] }, { sender: this.url });
    const replay = memoryReplayStore({ perKeyCap: 100 });
    const ended = Promise.withResolvers<void>();
    let url = "";
    const server: Server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const { method = "POST", headersDistinct: headers } = request;
      const verdict = await verifyWebhook({ method, url, headers, body }, { keys, replay, word: this.word });
      const believed = verdict.ok || this.fault === "believes a forged webhook";
      response.writeHead(believed ? 200 : 401).end();
      if (!believed) return;
      const event = JSON.parse(body.toString()) as JsonObject;
      const known = this.seen.has(String(event.idempotency_key));
      this.seen.add(String(event.idempotency_key));
      if (known && this.fault !== "runs an effect twice") return;
      if (event.status !== "completed") return;
      const { media_buy_id: id } = event.result as JsonObject;
      await this.pause(String(id), account);
      ended.resolve();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
    return { url, ended: ended.promise, close: () => void server.close() };
  }

  private async seller(): Promise<{ jwks_uri: string }> {
    const capabilities = await this.call(`get_${this.word}_capabilities`, {});
    const { brand_json_url: brand } = capabilities.identity as { brand_json_url: string };
    const { agents } = (await (await fetch(brand)).json()) as { agents: { url: string; jwks_uri: string }[] };
    return agents.find(({ url }) => url === this.url)!;
  }
}

/** Does what a task asks. */
export const soundBuyer =
  (word: string, fault?: BuyerFault) =>
  (task: BuyerTask): Promise<JsonObject> =>
    new SoundBuyer(task.seller.url, word, fault).buy(task);
