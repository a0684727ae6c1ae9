/** Parts of a search's index, over real HTTP. */
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import {
  createRegistryData,
  createRegistryPart,
  type RegistryPart,
  type RegistryPartOptions,
} from "../../runtime/registry/index.js";
import type { RegistryData, RegistryDataOptions, SearchParts } from "../../runtime/registry/types.js";
import type { AnyStore } from "../../runtime/store/index.js";
import { until } from "../support/until.js";
import type { Engine } from "./data-fixture.js";

export const TOKEN = "a-secret-of-parts";
/** Parts that tests have, where nothing is said of it. */
const PARTS = 4;

export interface Parts {
  readonly searchParts: SearchParts;
  readonly urls: readonly string[];
  /** Ends one, from 1. */
  end(part: number): Promise<void>;
  /** Starts one again at its address. */
  begin(part: number): Promise<void>;
  stop(): Promise<void>;
}

const isReady = async (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );

/** A part, listening and with its index read. */
async function startPart(options: RegistryPartOptions, port = 0): Promise<{ part: RegistryPart; url: string }> {
  const part = await createRegistryPart({ logger: pino({ level: "silent" }), ...options });
  const url = await part.listen({ port });
  await until(() => isReady(url), "the part has read its index");
  return { part, url };
}

export async function startParts(store: AnyStore, of = PARTS): Promise<Parts> {
  const start = (at: number, port?: number) => startPart({ store, part: `${at + 1}/${of}`, token: TOKEN }, port);
  const running = await Promise.all(Array.from({ length: of }, (_, at) => start(at)));
  const urls = running.map(({ url }) => url);
  return {
    searchParts: { urls, token: TOKEN, deadlineMs: 5_000 },
    urls,
    end: (part) => running[part - 1]!.part.stop(),
    async begin(part) {
      running[part - 1] = await start(part - 1, Number(new URL(urls[part - 1]!).port));
    },
    async stop() {
      for (const { part } of running) await part.stop();
    },
  };
}

export interface Gate {
  readonly url: string;
  /** `gone` ends every connection, `silent` answers nothing. */
  state: "open" | "gone" | "silent";
  /** Questions that came. */
  asked: number;
  stop(): void;
}

/** Stands in front of a part, and lets nothing through where a test says so. */
export async function gateOf(url: string): Promise<Gate> {
  const server = createServer((incoming, outgoing) => {
    gate.asked += 1;
    if (gate.state === "gone") incoming.socket.destroy();
    if (gate.state !== "open") return;
    const { method, headers } = incoming;
    const onward = request(new URL(incoming.url!, url), { method: method!, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => incoming.socket.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const gate: Gate = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state: "open",
    asked: 0,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  return gate;
}

/** Who answers: the index of the instance, the database, or four processes with a part of the index each. */
export type SearchKind = "memory" | "database" | "parts";

/** Data of registries whose searches are answered so; the instances of one store ask the same parts. */
export function opener(engine: Engine, search: SearchKind) {
  let parts: Parts | undefined;
  const close = async (): Promise<void> => {
    await parts?.stop();
    parts = undefined;
  };
  const made = (store: AnyStore, options: RegistryDataOptions): RegistryData =>
    createRegistryData(store, {
      ...options,
      ...(search === "parts" ? { searchParts: parts!.searchParts } : { search }),
    });
  return {
    close,
    async open(options: RegistryDataOptions): Promise<RegistryData> {
      await close();
      const store = await engine.open();
      if (search === "parts") parts = await startParts(store);
      return made(store, options);
    },
    again: async (options: RegistryDataOptions) => made(await engine.again(), options),
  };
}
