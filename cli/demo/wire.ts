/** The network between sellers and a buyer, at its worst: it loses answers, holds requests back, repeats and forges them. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came by, with what the receiver said. */
export interface Passed {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export interface Verdict {
  readonly status: number;
  readonly text: string;
  readonly challenge: string | undefined;
}

/** What becomes of a request: passed on, passed on with its answer lost, or not passed on. */
export type Treatment = "pass" | "lose the answer" | "hold back";

export interface WireOptions {
  /** Ports of receivers, asked each time: they come and go. */
  readonly receivers: () => readonly number[];
  /** Decides, per request. @param verdict what a receiver will have said; undefined when it reached none */
  treat(passed: Passed, verdict: Promise<Verdict | undefined>): Treatment;
  /** Told of each request that reached a receiver. */
  onVerdict(passed: Passed, verdict: Verdict, treatment: Treatment): void;
}

async function read(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export class DemoWire {
  readonly #server: Server;
  #turn = 0;

  constructor(readonly options: WireOptions) {
    this.#server = createServer((message, response) => {
      this.#carry(message, response).catch(() => {
        if (!response.headersSent) response.writeHead(502);
        response.end();
      });
    });
  }

  /** @returns URL of its receiving end */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Sends a request that no seller sent, or sent once already. */
  async inject(passed: Passed): Promise<Verdict> {
    return this.#forward(passed);
  }

  async #carry(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await read(message);
    const passed = { method: message.method!, target: message.url!, headers: message.rawHeaders, body };
    const judged = Promise.withResolvers<Verdict | undefined>();
    const treatment = this.options.treat(passed, judged.promise);
    if (treatment === "hold back") {
      judged.resolve(undefined);
      response.writeHead(503).end();
      return;
    }
    const verdict = await this.#forward(passed).catch((error: unknown) => {
      judged.resolve(undefined);
      throw error;
    });
    this.options.onVerdict(passed, verdict, treatment);
    judged.resolve(verdict);
    if (treatment === "lose the answer") response.destroy();
    else response.writeHead(verdict.status, { "content-type": "application/json" }).end(verdict.text);
  }

  /** In turn over the receivers, as a load balancer would; the next one when one is gone. */
  async #forward(passed: Passed): Promise<Verdict> {
    const ports = this.options.receivers();
    let failure: unknown = new Error("no receiver is up");
    for (let tried = 0; tried < ports.length; tried++) {
      const port = ports[this.#turn++ % ports.length]!;
      try {
        return await send(port, passed);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }
}

function send(port: number, { method, target, headers, body }: Passed): Promise<Verdict> {
  return new Promise((resolve, reject) => {
    const kept = headers.flatMap((value, at) =>
      at % 2 === 0 && !/^(connection|content-length|transfer-encoding)$/i.test(value) ? [value, headers[at + 1]!] : [],
    );
    const call = request(
      { host: "127.0.0.1", port, method, path: target, headers: [...kept, "content-length", String(body.length)] },
      (answer) =>
        read(answer)
          .then((text) =>
            resolve({
              status: answer.statusCode!,
              text: text.toString(),
              challenge: answer.headers["www-authenticate"],
            }),
          )
          .catch(reject),
    );
    call.on("error", reject);
    call.end(body);
  });
}
