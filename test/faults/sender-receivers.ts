/** Receivers that misbehave until they are healed, and remember every attempt they saw. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Behaviour =
  | "well"
  | "slow"
  | "down"
  | "500"
  | "429"
  | "401"
  | "redirects"
  | "closes early"
  | "accepts, then resets"
  | "hangs"
  | "404"
  | "200, slowly"
  | "200, cut"
  | "gone";

export const behaviours: readonly Behaviour[] = [
  "well",
  "slow",
  "down",
  "500",
  "429",
  "401",
  "redirects",
  "closes early",
  "accepts, then resets",
  "hangs",
  "404",
  "200, slowly",
  "200, cut",
  "gone",
];

/** Those that have a path of one host as well: the ill must not keep the well of it from being delivered. */
const shared: readonly Behaviour[] = ["well", "500", "hangs", "404", "200, cut"];

export interface Seen {
  readonly behaviour: Behaviour;
  readonly key: string;
  readonly task: string;
  readonly n: number;
  readonly accepted: boolean;
  readonly sender: string;
  /** When it came, by this process's clock. */
  readonly at: number;
}

/** What a process had out when it was killed, with the healthy of it that must come again. */
export interface Loss {
  readonly at: number;
  readonly keys: readonly string[];
  readonly healthy: readonly string[];
  /** Of a kill: the kills between two pauses. */
  readonly volley?: number;
}

/** An answer is written down by its sender within this time, in milliseconds, unless the machine is very busy. */
const WRITTEN_MS = 1_000;

/** How long a slow receiver thinks, and how long any of them keeps a request open for a kill, in milliseconds. */
const SLOW_MS = 600;
const OPEN_MS = 8;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Receivers {
  readonly seen: Seen[] = [];
  readonly urls: string[] = [];
  followed = 0;
  healed = false;
  /** Told of each request while it is open. */
  onOpen: (sender: string) => void = () => undefined;
  readonly #out = new Map<object, { readonly sender: string; readonly behaviour: Behaviour; readonly key: string }>();
  readonly #servers: Server[] = [];
  readonly #down: { server: Server; port: number }[] = [];

  async start(): Promise<void> {
    for (const behaviour of behaviours) {
      const server = createServer((request, response) => {
        void this.#receive(behaviour, request, response).catch(() => response.destroy());
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      this.urls.push(`http://127.0.0.1:${port}/hook`);
      this.#servers.push(server);
      if (behaviour === "well")
        this.urls.push(...shared.map((one) => `http://127.0.0.1:${port}/hook/${shared.indexOf(one)}`));
      if (behaviour !== "down" && behaviour !== "gone") continue;
      await new Promise<void>((resolve) => server.close(() => resolve()));
      if (behaviour === "down") this.#down.push({ server, port });
    }
  }

  /** What a sender has out now, or all of them: open, or answered and perhaps not written down. */
  out(sender?: string): Loss {
    const open = [...this.#out.values()].filter((one) => sender === undefined || one.sender === sender);
    const healthy = open.filter(({ behaviour }) => behaviour === "well" || behaviour === "slow");
    return { at: performance.now(), keys: open.map(({ key }) => key), healthy: healthy.map(({ key }) => key) };
  }

  async heal(): Promise<void> {
    this.healed = true;
    for (const { server, port } of this.#down) {
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    }
  }

  stop(): void {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  async #receive(of: Behaviour, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sender = String(request.headers["user-agent"]);
    const path = /^\/hook(?:\/(\d))?$/.exec(request.url!);
    if (path === null) this.followed += 1;
    const behaviour = path?.[1] === undefined ? of : shared[Number(path[1])]!;
    const at = performance.now();
    if (behaviour === "closes early" && !this.healed) {
      this.onOpen(sender);
      request.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>;
    const ill = this.healed ? "well" : behaviour;
    this.#out.set(request, { sender, behaviour: ill, key: body.idempotency_key! });
    setTimeout(() => this.#out.delete(request), WRITTEN_MS + SLOW_MS).unref();
    this.onOpen(sender);
    await pause(ill === "slow" ? SLOW_MS : OPEN_MS);
    const [status, headers] = answerOf(ill, this.urls[0]!);
    this.seen.push({
      behaviour,
      key: body.idempotency_key!,
      task: body.task_id!,
      n: Number(body.message),
      // The status decides, whatever becomes of the words after it.
      accepted: status === 200 && ill !== "hangs",
      sender,
      at,
    });
    // Until it is healed, it says nothing more; the sender's own limit ends it.
    if (ill === "hangs") return;
    if (ill === "200, slowly" || ill === "200, cut") {
      response.writeHead(200, { "content-length": "19" });
      response.write("half of it");
      await pause(SLOW_MS);
      if (ill === "200, cut") request.socket.destroy();
      else response.end("and half.");
      return;
    }
    if (status === 0) request.socket.resetAndDestroy();
    else response.writeHead(status, headers).end();
  }
}

function answerOf(behaviour: Behaviour, well: string): [status: number, headers: Record<string, string>] {
  switch (behaviour) {
    case "500":
      return [500, {}];
    case "429":
      return [429, { "retry-after": "1" }];
    case "401":
      return [401, { "www-authenticate": 'Signature error="webhook_signature_invalid"' }];
    case "redirects":
      return [302, { location: `${well}/followed` }];
    case "404":
      return [404, {}];
    case "accepts, then resets":
      return [0, {}];
    default:
      return [200, {}];
  }
}
