/** The library's behaviours as a seller of a published release, on a database of its own, called without a transport. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { type BehavingSellerOptions, openSeller } from "../../runtime/behaviours/index.js";
import type { JsonObject, Release } from "../../runtime/contract/index.js";
import { cellsOf } from "../support/cells.js";
import { corpus } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";
import { wholeRelease } from "../support/whole-release.js";

const inCorpus = ["3.0.26", "3.1.19", "3.2.0-beta.4", "3.2.4"].filter((version) => {
  const there = existsSync(path.join(corpus, "releases", version));
  if (!there) console.log(`skipped: no release ${version} in ${corpus}`);
  return there;
});

const oneOf = (names: readonly string[]): readonly string[] =>
  cellsOf("ADBIND_CELLS=all ./run test test/behaviours", names, 1);

/** One release of each line, and the newest of all; a run takes one of them. */
export const versions = oneOf(inCorpus);

/** Of those that have a specialism: whatever a run takes, there is something to test. */
export async function versionsWith(specialism: string): Promise<readonly string[]> {
  const having = await Promise.all(
    inCorpus.map(async (version) =>
      Object.hasOwn((await publishedRelease(version)).specialisms, specialism) ? [version] : [],
    ),
  );
  return oneOf(having.flat());
}

export const publishedRelease = async (version: string): Promise<Release> => (await wholeRelease(version)).release;

const folder = tempFolder();

export interface TestSeller extends Awaited<ReturnType<typeof openSeller>> {
  /** The answer of a call that must succeed; in development it is judged by the release's schema. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every tool
  ask(tool: string, args: object, principal?: string): Promise<any>;
  /** The code and field of a call that must fail. */
  refused(tool: string, args: object, principal?: string): Promise<{ code: string; field?: string; message: string }>;
}

export async function behavingSeller(
  version: string,
  specialisms: readonly string[],
  more: Partial<BehavingSellerOptions> = {},
): Promise<TestSeller> {
  const opened = await openSeller({
    release: await publishedRelease(version),
    specialisms,
    database: `sqlite:${path.join(folder, `${randomUUID()}.db`)}`,
    baseUrl: "https://seller.example",
    name: "Test seller",
    mode: "development",
    logger: pino({ level: "silent" }),
    ...more,
  });
  const call = (tool: string, args: object, principal = "buyer") =>
    opened.seller.call({ tool, args, transport: "mcp", identity: { principal } });
  return {
    ...opened,
    async ask(tool, args, principal) {
      const { failed, payload } = await call(tool, args, principal);
      if (failed) throw new Error(`${tool}: ${JSON.stringify(payload.errors)}`);
      return payload;
    },
    async refused(tool, args, principal) {
      const { failed, payload } = await call(tool, args, principal);
      if (!failed) throw new Error(`${tool} answered ${JSON.stringify(payload)}`);
      return (payload.errors as JsonObject[])[0] as never;
    },
  };
}

/** A key for a call that changes something. */
export const key = (): { idempotency_key: string } => ({ idempotency_key: randomUUID() });

export const brand = { domain: "acmeoutdoor.example" };
export const account = { brand, operator: "pinnacle.example" };
