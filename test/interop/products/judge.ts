/** `./run interop python --part products`: what the official Python client makes of the products of a seller as it is made. */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { pino } from "pino";
import type { Totals } from "../../../cli/closing-line.js";
import { listedCatalogue, openSeller } from "../../../runtime/behaviours/index.js";
import type { Product } from "../../../runtime/behaviours/ports/catalogue.js";
import { freePort } from "../../../runtime/testing/free-port.js";
import { catalogue } from "../../../templates/project/src/catalogue.js";
import { tempFolder } from "../../support/release.js";
import { wholeRelease } from "../../support/whole-release.js";
import { preparePython, sdkPython } from "../signing/python.js";

/** The newest release of each line in the corpus. */
const versions = ["3.0.26", "3.1.19", "3.2.4"] as const;
/** Milliseconds for one client; the SDK takes minutes to be imported on a busy machine. */
const LIMIT_MS = 480_000;

interface Seen {
  readonly ok: boolean;
  readonly error: string | null;
  /** How many formats of each product the client knows what to make for. */
  readonly products: Readonly<Record<string, number>>;
  readonly diagnostics: readonly { readonly code?: string; readonly details?: unknown }[];
}

/** A seller of this release with the products that a project begins with. */
async function exampleSeller(version: string, products: readonly Product[]) {
  const { seller } = await openSeller({
    release: (await wholeRelease(version)).release,
    specialisms: ["sales_guaranteed"],
    database: `sqlite:${path.join(tempFolder(), `${version}.db`)}`,
    baseUrl: "https://seller.example.com",
    name: "Example seller",
    mode: "development",
    logger: pino({ level: "error" }),
    ports: { catalogue: listedCatalogue(products) },
  });
  const port = await freePort();
  await seller.start({ port });
  return { seller, url: `http://127.0.0.1:${port}/mcp` };
}

/** What one client sees of each, in their order: it is slow to start. */
async function seenAt(sellers: readonly { readonly url: string }[]): Promise<Seen[]> {
  const asked = sellers.flatMap(({ url }, at) => [url, versions[at]!.split(".").slice(0, 2).join(".")]);
  const script = path.join(import.meta.dirname, "peer.py");
  const { stdout } = await promisify(execFile)(sdkPython, [script, ...asked], { timeout: LIMIT_MS });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Seen);
}

/** @returns what is wrong; undefined where every product came with every format */
function faultOf(products: readonly Product[], { ok, error, products: seen, diagnostics }: Seen): string | undefined {
  if (!ok) return error ?? "the call failed";
  // Where a release has two lists of them, the client counts both.
  const lost = products.filter(({ product_id, formats }) => (seen[product_id] ?? 0) < formats.length);
  if (lost.length === 0) return undefined;
  const why = diagnostics.map(({ code, details }) => `${code} ${JSON.stringify(details)}`).join("; ");
  return `formats of ${lost.map(({ product_id }) => product_id).join(", ")} are not known there: ${why}`.slice(0, 900);
}

export async function judgeProducts(): Promise<Totals> {
  const missing = preparePython();
  if (missing !== undefined) {
    console.error(`the Python SDK cannot be had: ${missing}`);
    return { passed: 0, failed: 1 };
  }
  const totals = { passed: 0, failed: 0 };
  const products = await catalogue.products({ principal: "anybody" });
  const sellers = await Promise.all(versions.map((version) => exampleSeller(version, products)));
  try {
    for (const [at, seen] of (await seenAt(sellers)).entries()) {
      const fault = faultOf(products, seen);
      if (fault === undefined) totals.passed++;
      else totals.failed++;
      const mapped = `${Object.values(seen.products).filter((count) => count > 0).length} of ${products.length}`;
      console.log(
        `${fault === undefined ? "ok    " : "FAILED"} ${versions[at]}: ${mapped} products${fault ? `: ${fault}` : ""}`,
      );
    }
  } finally {
    for (const { seller } of sellers) await seller.close();
  }
  return totals;
}
