/** A seller and its callers on one machine: real sockets, a real store on each side, signed webhooks. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { type Buyer, createBuyer, createCompletions } from "../../../runtime/buyer/index.js";
import type { BuyerOptions } from "../../../runtime/buyer/types.js";
import type { JsonObject, Release, TransportName } from "../../../runtime/contract/index.js";
import { createGuardedFetch } from "../../../runtime/net/index.js";
import { createReceiver, nodeListener, type ReceivedEvent } from "../../../runtime/receiver/index.js";
import { createSeller, type SellerContext } from "../../../runtime/seller/index.js";
import { createSender } from "../../../runtime/sender/index.js";
import { staticKeys } from "../../../runtime/signing/index.js";
import { openSqliteStore } from "../../../runtime/store/index.js";
import { freePort } from "../../../runtime/testing/free-port.js";
import { sellerKey } from "../../support/receiver.js";
import { tempFolder } from "../../support/release.js";
import type { Line } from "./answers.js";

/** Products by which an order says how it is to be answered. */
export const orders = { now: "prod_now", later: "prod_later", asked: "prod_asked" } as const;

export interface SellerWorld {
  readonly url: string;
  /** Requests as the seller's handlers had them, newest last: the tool, and the release it was answered in. */
  readonly answered: { readonly tool: string; readonly release: string; readonly request: JsonObject }[];
  /** Makes a buyer that speaks these lines, newest first. */
  buyer(lines: readonly Line[], transport: TransportName, more?: Partial<BuyerOptions>): Promise<CallerWorld>;
  close(): Promise<void>;
}

export interface CallerWorld {
  readonly buyer: Buyer;
  /** Webhooks that were believed. */
  readonly seen: ReceivedEvent[];
  /** Requests and answers that break their release's schema. */
  readonly invalid: string[];
  close(): Promise<void>;
}

const productOf = (request: JsonObject): string =>
  (request.packages as { product_id?: string }[] | undefined)?.[0]?.product_id ?? "";

/** A tool that the older releases have under another name. */
export const COMPACT = "list_products";

/** How long the seller works on an order that it answers later, in milliseconds. */
const WORK_MS = 60;
const work = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, WORK_MS));

/** @param lines releases served, newest first */
export async function openSellerWorld(lines: readonly Line[]): Promise<SellerWorld> {
  const [newest] = lines as readonly [Line];
  const byVersion = new Map(lines.map((line) => [line.release.version, line]));
  const validator = (release: Release) => byVersion.get(release.version)!.validator;
  const key = sellerKey("seller-1", newest.release.word);
  // A purpose that every release takes.
  const jwk = { ...key.jwk, [`${newest.release.word}_use`]: "webhook-signing" };
  const store = openSqliteStore({ path: path.join(tempFolder(), "seller.db") });
  const fetch = createGuardedFetch({ allowHttp: true, allowLoopback: true });
  const releases = lines.map(({ release }) => release);
  const sender = await createSender({
    store,
    ...{ release: newest.release, releases, fetch, signer: { key: key.privateKey, keyid: key.keyid }, validator },
    ...{ net: { allowHttp: true, allowLoopback: true }, worker: { pollMs: 10 } },
  });
  sender.start();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const answered: SellerWorld["answered"] = [];
  // biome-ignore lint/suspicious/noExplicitAny: one handler for the tools of several releases
  const answer = (tool: string) => async (request: any, ctx: any) => {
    const { release } = ctx as SellerContext;
    answered.push({ tool, release: release.version, request });
    const body = byVersion.get(release.version)!.answer(tool);
    if (tool !== "create_media_buy" || productOf(request) === orders.now) return ctx.complete(body);
    return ctx.submitted({ message: "Waiting for a signature." }, async () => {
      await work();
      return { status: "completed", data: body };
    });
  };
  const compact = Object.hasOwn(newest.release.tools, COMPACT) ? [COMPACT] : [];
  const names = ["get_products", "create_media_buy", "update_media_buy", "sync_creatives", "get_media_buy_delivery"];
  const seller = await createSeller({
    ...{ release: newest.release, releases, store, sender, baseUrl: url, name: "Seller of the matrix" },
    ...{ specialisms: [], mode: "development", limits: { calls: false }, validator },
    tools: Object.fromEntries([...names, ...compact].map((name) => [name, answer(name)])),
    capabilities: (release: Release) => ({
      account: { supported_billing: ["agent"] },
      ...(Object.hasOwn(release.tools, COMPACT) && { media_buy: { lifecycle_tools: [COMPACT] } }),
    }),
  } as never);
  await seller.start({ port });
  return {
    url,
    answered,
    buyer: (spoken, transport, more = {}) => openCaller(spoken, { url, jwk, transport, more }),
    async close() {
      await seller.close();
      await sender.stop();
      await fetch.close();
      await store.close();
    },
  };
}

interface Calling {
  readonly url: string;
  readonly jwk: object;
  readonly transport: TransportName;
  readonly more: Partial<BuyerOptions>;
}

async function openCaller(lines: readonly Line[], { url, jwk, transport, more }: Calling): Promise<CallerWorld> {
  const [newest, ...others] = lines as readonly [Line, ...Line[]];
  const byVersion = new Map(lines.map((line) => [line.release.version, line]));
  const validator = (release: Release) => byVersion.get(release.version)!.validator;
  const store = openSqliteStore({ path: path.join(tempFolder(), "buyer.db") });
  const seen: ReceivedEvent[] = [];
  const invalid: string[] = [];
  const completions = createCompletions();
  const handlers = completions.through({ fallback: (delivery: ReceivedEvent) => void seen.push(delivery) });
  const http = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const hooks = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const receiver = createReceiver({
    ...{ store, publicUrl: hooks, pollMs: 10, validator },
    releases: lines.map(({ release }) => ({ release, handlers })),
    senders: { [url]: { keys: staticKeys({ keys: [jwk] } as never, { sender: url }) } },
  } as never);
  receiver.start();
  const listener = nodeListener(receiver);
  const buyer = createBuyer({
    release: newest.release,
    releases: others.map(({ release }) => release),
    agent: { url: transport === "mcp" ? `${url}/mcp` : url, transport },
    webhooks: { receiver, url: `${hooks}/hooks/matrix`, sender: url, completions },
    allowLocal: true,
    timeoutMs: 20_000,
    validator,
    onInvalid: ({ tool, direction, release, errors: [first] }) =>
      void invalid.push(`${tool} ${direction} of ${release}: ${first?.pointer} ${first?.message}`),
    ...more,
  });
  return {
    ...{ buyer, seen, invalid },
    async close() {
      await buyer.close();
      await receiver.stop();
      http.closeAllConnections();
      http.close();
      await store.close();
    },
  };
}
