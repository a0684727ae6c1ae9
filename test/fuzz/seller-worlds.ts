/**
 * One history of calls, answered by sellers that are given other parts of it: whoever is left out of one may have changed nothing
 * for the others. Ids and times are made of a call's place in the history, so that answers can be compared as they are.
 */
import { createHash, generateKeyPairSync } from "node:crypto";
import { pino } from "pino";
import { behaviours } from "../../runtime/behaviours/areas.js";
import { openSeller } from "../../runtime/behaviours/index.js";
import type { AnyTool, Release } from "../../runtime/contract/index.js";
import type { SellerHandler } from "../../runtime/seller/types.js";
import type { Sender } from "../../runtime/sender/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import type { JsonRecord } from "../support/known.js";
import { fuzzedCatalogue } from "./seller-catalogue.js";
import { specialismsOf } from "./seller-run.js";

/** One call of a history. */
export interface HistoryCall {
  /** Its place. */
  readonly at: number;
  readonly who: string;
  readonly tool: string;
  readonly args: JsonRecord;
}

/** What came of it. */
export interface HistoryAnswer {
  readonly failed: boolean;
  readonly payload: JsonRecord;
}

const START = Date.parse("2026-03-02T10:00:00Z");
const STEP_MS = 1_000;

const keyNamed = (kid: string): object & { readonly kid: string } => ({
  ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }),
  ...{ kid, alg: "EdDSA", use: "sig" },
});
const keys = { key: keyNamed("worlds"), responseKey: keyNamed("worlds-responses") };

/** How far the clock goes after a history, a step at a time: reports of some days, and what waits for more of its kind. */
const AFTER_MS = [60_000, 3_600_000, 86_400_000, 86_400_000];
/** So many looks without anything new, and the pause after each in milliseconds: the behaviours' upkeep has had its turn by then. */
const QUIET = 4;
const QUIET_MS = 250;

/** A seller of everything the library answers, at the place of the history that it is called at. */
export class World {
  readonly offered = new Set<string>();
  readonly mutating = new Set<string>();
  readonly store: ReturnType<typeof openSqliteStore>;
  #afterMs = 0;
  #sender: Sender | undefined;
  #seller!: Awaited<ReturnType<typeof openSeller>>;
  #at = 0;
  #made = 0;

  private constructor(file: string) {
    this.store = openSqliteStore({ path: file });
  }

  static async open(release: Release, file: string): Promise<World> {
    const world = new World(file);
    const note = (tool: string, handle: SellerHandler<AnyTool>): SellerHandler<AnyTool> => {
      world.offered.add(tool);
      if (release.tools[tool]?.mutating === true) world.mutating.add(tool);
      return (request, context) => {
        world.#sender = context.sender;
        return handle(request, context);
      };
    };
    world.#seller = await openSeller({
      ...{ release, specialisms: specialismsOf(release), with: behaviours.map(({ area }) => area), ...keys },
      ...{ database: world.store, baseUrl: "https://seller.example", name: "Seller", mode: "development" },
      ...{ logger: pino({ level: "silent" }), limits: { calls: false }, metrics: false },
      ports: { catalogue: fuzzedCatalogue },
      now: () => START + world.#at * STEP_MS + world.#afterMs,
      uuid: () => world.#uuid(),
      tools: (own) =>
        Object.fromEntries(
          Object.entries(own as Record<string, SellerHandler<AnyTool>>).map(([tool, one]) => [tool, note(tool, one)]),
        ),
    });
    return world;
  }

  #uuid(): string {
    const hex = createHash("sha256")
      .update(`${this.#at} ${this.#made++}`)
      .digest("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }

  async call({ at, who, tool, args }: HistoryCall): Promise<HistoryAnswer> {
    this.#at = at;
    this.#made = 0;
    const { failed, payload } = await this.#seller.seller.call({
      ...{ tool, args: structuredClone(args), transport: "mcp", identity: { principal: who } },
    });
    return { failed, payload: payload as JsonRecord };
  }

  /** Sends what there is to send, and what comes due in some days after the history. @param at the place where all of it is over @param heard how many have arrived */
  async deliver(at: number, heard: () => number): Promise<void> {
    this.#at = at;
    const sender = this.#sender!;
    await this.#seller.start({ port: 0 });
    for (const ms of AFTER_MS) {
      this.#afterMs += ms;
      for (let [before, quiet] = [-1, 0]; quiet < QUIET; quiet = before === heard() ? quiet + 1 : 0) {
        before = heard();
        await sender.channels.tick();
        await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
      }
    }
  }

  async close(): Promise<void> {
    await this.#seller.close();
    await this.store.close();
  }
}

/** What the sender makes ids of by itself: of no call's place. */
const shownIn = ({ payload }: HistoryAnswer): string =>
  JSON.stringify(payload).replaceAll(/"(principal_id|configuration_version)":"[^"]*"/g, "");

/** Calls of a history that are answered otherwise by a seller that was given these alone. */
export async function answeredOtherwise(
  world: World,
  steps: readonly { readonly call: HistoryCall; readonly answer: HistoryAnswer }[],
): Promise<string[]> {
  const found: string[] = [];
  for (const { call, answer } of steps) {
    const own = shownIn(await world.call(call));
    const before = shownIn(answer);
    if (own === before) continue;
    const from = Math.max(0, [...own].findIndex((one, at) => one !== before[at]) - 100);
    const of = [own, before].map((one) => one.slice(from, from + 400));
    found.push(`${call.at}: ${call.who} ${call.tool} ${JSON.stringify(call.args)}\n  ${of.join("\n  ")}`);
  }
  return found;
}
