/** Parts of a search's index, over real HTTP. */
import { pino } from "pino";
import { createRegistryPart, type RegistryPart, type RegistryPartOptions } from "../../runtime/registry/index.js";
import type { SearchParts } from "../../runtime/registry/types.js";
import type { AnyStore } from "../../runtime/store/index.js";
import { until } from "../support/until.js";

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

export const isReady = async (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );

/** A part, listening and with its index read. */
export async function startPart(options: RegistryPartOptions, port = 0): Promise<{ part: RegistryPart; url: string }> {
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
