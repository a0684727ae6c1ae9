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
  "gone",
];

export interface Seen {
  readonly behaviour: Behaviour;
  readonly key: string;
  readonly task: string;
  readonly n: number;
  readonly accepted: boolean;
  readonly sender: string;
}

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
      if (behaviour !== "down" && behaviour !== "gone") continue;
      await new Promise<void>((resolve) => server.close(() => resolve()));
      if (behaviour === "down") this.#down.push({ server, port });
    }
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

  async #receive(behaviour: Behaviour, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sender = String(request.headers["user-agent"]);
    if (request.url !== "/hook") this.followed += 1;
    this.onOpen(sender);
    if (behaviour === "closes early" && !this.healed) {
      request.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>;
    const ill = this.healed ? "well" : behaviour;
    await pause(ill === "slow" ? SLOW_MS : OPEN_MS);
    const [status, headers] = answerOf(ill, this.urls[0]!);
    this.seen.push({
      behaviour,
      key: body.idempotency_key!,
      task: body.task_id!,
      n: Number(body.message),
      accepted: status === 200,
      sender,
    });
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
    case "accepts, then resets":
      return [0, {}];
    default:
      return [200, {}];
  }
}
