/** Receives the webhooks of an agent under test, and keeps each as it came. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { CaughtWebhook, WebhookCatcher } from "../caught.js";

/** Largest body that is kept, in bytes: a webhook of the protocol is at most 1 MiB. */
const MAX_BODY = 1024 * 1024;
/** Deliveries kept in one run: an agent that repeats without end must not fill the memory. */
const MAX_KEPT = 10_000;

export interface CatcherOptions {
  /** What agents are told, where something stands before the receiver; its own address by default. */
  readonly base?: string | undefined;
  /** Address it listens on; 127.0.0.1 by default. */
  readonly host?: string | undefined;
  /** What the URLs name it; its address by default. */
  readonly name?: string | undefined;
  /** 0 by default: any free one. */
  readonly port?: number | undefined;
  /** PEM; it listens with TLS then. */
  readonly tls?: { readonly key: string; readonly cert: string } | undefined;
  readonly now: () => number;
}

async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const objectOf = (body: Uint8Array): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

function listening(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** Starts listening. */
export async function openCatcher(options: CatcherOptions): Promise<WebhookCatcher> {
  const { host = "127.0.0.1", name = host, port = 0, tls, now } = options;
  const paths = new Map<string, { storyboard: string; step: string }>();
  const known = new Map<string, string>();
  const refusals = new Map<string, { left: number; status: number }>();
  const kept: CaughtWebhook[] = [];
  const key = (storyboard: string, step: string): string => `${storyboard} ${step}`;
  let base = options.base ?? "";

  const statusFor = (storyboard: string, step: string): number => {
    const refusal = refusals.get(key(storyboard, step));
    if (refusal === undefined || refusal.left === 0) return 200;
    refusal.left -= 1;
    return refusal.status;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const path = new URL(request.url ?? "/", "http://catcher").pathname;
    const at = [...paths].find(([end]) => path.endsWith(end));
    const json = objectOf(body);
    const challenge = json?.challenge;
    const reply = (status: number, content: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(content));
    };
    // Proof that whoever registered the URL is the one who answers there.
    if (typeof challenge === "string") return reply(200, { challenge });
    if (at === undefined) return reply(404, { error: "no step has this URL" });
    const { storyboard, step } = at[1];
    const status = statusFor(storyboard, step);
    const url = `${base}${at[0]}`;
    const { headersDistinct: headers, method = "POST" } = request;
    if (kept.length < MAX_KEPT) kept.push({ storyboard, step, url, method, headers, body, json, at: now(), status });
    reply(status, { received: status === 200 });
  };

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    // No sender finds a connection closed that it meant to use again.
    response.setHeader("connection", "close");
    answer(request, response).catch(() => response.destroy());
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const address = await listening(server, port, host);
  base ||= `${tls === undefined ? "http" : "https"}://${name}:${address.port}`;
  return {
    base,
    urlFor(storyboard, step) {
      const name = key(storyboard, step);
      const path = known.get(name) ?? `/step/${step}/${randomUUID()}`;
      known.set(name, path);
      paths.set(path, { storyboard, step });
      return `${base}${path}`;
    },
    caught: (storyboard) => kept.filter((one) => one.storyboard === storyboard),
    refuse: (storyboard, step, count, status) => void refusals.set(key(storyboard, step), { left: count, status }),
    close: () => closed(server),
  };
}
