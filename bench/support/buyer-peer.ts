/** Calls of our buyer beside those of the official Python SDK's client: the same seller, the same tool, one after the other. */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { pino } from "pino";
import { releaseNamed } from "../../cli/check/release-value.js";
import { openSeller } from "../../runtime/behaviours/index.js";
import { createBuyer } from "../../runtime/buyer/index.js";
import { catalogue } from "../../templates/project/src/catalogue.js";
import { preparePython, sdkPython } from "../../test/interop/signing/python.js";
import { corpus } from "../../test/support/corpus.js";
import { tempFolder } from "../../test/support/release.js";
import type { Row } from "./row.js";

const VERSION = "3.1.19";
const LINE = "3.1";
/** Calls that are not counted, and those that are. */
const CALLS = { warm: 20, counted: 100 } as const;
/** Milliseconds for the client's process; the SDK takes minutes to be imported on a busy machine. */
const LIMIT_MS = 480_000;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** @throws Error where a call fails: what is quick to fail is not quick */
async function ours(url: string, release: Awaited<ReturnType<typeof releaseNamed>>): Promise<number[]> {
  const buyer = createBuyer({ release, agent: url, allowLocal: true });
  const took: number[] = [];
  for (let n = 0; n < CALLS.warm + CALLS.counted; n++) {
    const began = performance.now();
    const request = { buying_mode: "wholesale", brand: { domain: "acmeoutdoor.example" } };
    const { answer } = await buyer.call("get_products", request);
    if (answer.status !== "completed") throw new Error(`the call failed: ${JSON.stringify(answer).slice(0, 300)}`);
    if (n >= CALLS.warm) took.push(performance.now() - began);
  }
  await buyer.close();
  return took;
}

/** One figure; none where the Python SDK cannot be had. */
export async function buyerPeerRows(): Promise<Row[]> {
  const missing = preparePython();
  if (missing !== undefined) {
    console.error(`bench: the Python SDK cannot be had: ${missing}`);
    return [];
  }
  const release = await releaseNamed(path.join(corpus, "releases", VERSION));
  const { seller } = await openSeller({
    ...{ release, specialisms: ["sales_guaranteed"], database: `sqlite:${path.join(tempFolder(), "seller.db")}` },
    ...{ baseUrl: "https://seller.example.com", name: "Bench", mode: "development" as const },
    logger: pino({ level: "silent" }),
    ports: { catalogue },
  });
  try {
    const url = `${await seller.start()}/mcp`;
    const before = await ours(url, release);
    const script = path.join(import.meta.dirname, "buyer-peer.py");
    const given = [script, url, LINE, String(CALLS.warm), String(CALLS.counted)];
    const { stdout } = await promisify(execFile)(sdkPython, given, { timeout: LIMIT_MS });
    const theirs = median(JSON.parse(stdout) as number[]);
    const own = median([...before, ...(await ours(url, release))]);
    return [
      {
        name: "a call of get_products, median, of the official Python client's on the same seller",
        value: own / theirs,
        unit: "x",
        target: { max: 0.2 },
        floor: { none: "both wait for the same seller, whose part is in both" },
        note: `${own.toFixed(2)} ms against ${theirs.toFixed(2)} ms; the seller shares our buyer's process, and not the client's`,
      },
    ];
  } finally {
    await seller.close();
  }
}
