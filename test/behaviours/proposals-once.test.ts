/** A proposal has one end: it is bought once, or declined, however those who are at it get in each other's way. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type AdServer, listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import { ToolError } from "../../runtime/seller/index.js";
import { cellsOf } from "../support/cells.js";
import { corpus } from "../support/corpus.js";
import { sharedPostgres } from "../support/postgres.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { account, behavingSeller, brand, key, type TestSeller } from "./behaving-seller.js";

const version = "3.2.4";
const there = existsSync(path.join(corpus, "releases", version));
if (!there) console.log(`skipped: no release ${version} in ${corpus}`);

const engine = cellsOf("ADBIND_CELLS=all ./run test test/behaviours", ["sqlite", "postgres"], 1).at(-1);
const cluster = engine === "postgres" && there ? await sharedPostgres() : undefined;
test.after(() => cluster?.stop());

const product: Product = {
  ...{ product_id: "display", name: "Display", description: "Display of all sizes", delivery_type: "non_guaranteed" },
  ...{ channels: ["display"], formats: ["display_300x250"] },
  pricing_options: [{ pricing_option_id: "cpm", pricing_model: "cpm", currency: "USD", fixed_price: 10 }],
};

/** What an ad server does with the orders that it is told of, by turns. */
type Mood = "takes" | "loses its answer" | "refuses";

function moodyServer() {
  const booked = new Set<string>();
  const moods = new Map<string, Mood>();
  let next: Mood[] = [];
  const adServer: AdServer = {
    async book(_, { idempotencyKey: id }) {
      const mood = moods.get(id) ?? next.shift() ?? "takes";
      moods.set(id, mood);
      await setImmediate();
      if (mood === "refuses") throw new ToolError("POLICY_VIOLATION", "not here");
      booked.add(id);
      moods.set(id, "takes");
      if (mood === "loses its answer") throw new Error("connection reset");
      return { orderId: id };
    },
    change: async () => undefined,
    pause: async () => undefined,
    resume: async () => undefined,
    cancel: async () => undefined,
  };
  const feel = (moodsOfNext: readonly Mood[]): void => {
    booked.clear();
    next = [...moodsOfNext];
  };
  return { adServer, booked, feel };
}

type Doing = "accept" | "create" | "decline" | "repeat";

const doings = fc.array(
  fc.array(fc.constantFrom<Doing>("accept", "accept", "create", "decline", "repeat"), { minLength: 1, maxLength: 4 }),
  { minLength: 1, maxLength: 3 },
);
const moods = fc.array(fc.constantFrom<Mood>("takes", "loses its answer", "refuses"), { maxLength: 6 });

const approvals = { ask: async () => ({ decision: "go" as const }) };
const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };

async function shop() {
  const database = cluster?.database() ?? `sqlite:${path.join(tempFolder(), `${randomUUID()}.db`)}`;
  const { adServer, booked, feel } = moodyServer();
  const where = await database;
  const catalogue = listedCatalogue([product]);
  const open = async (): Promise<TestSeller> => {
    const opened = await behavingSeller(version, ["sales_non_guaranteed"], {
      database: where,
      ports: { adServer, approvals, catalogue },
    });
    await opened.start({ port: 0 });
    return opened;
  };
  const processes = [await open(), await open()];
  return {
    booked,
    feel,
    of: (index: number) => processes[index % 2]!,
    async restart() {
      await processes[1]!.close();
      processes[1] = await open();
    },
    async close() {
      for (const one of processes) await one.close();
    },
  };
}

/** A committed proposal, and the order of it. */
async function committed({ ask }: TestSeller) {
  const brief = "USD 1,000 of display from January 5 through March 31, 2099.";
  const { proposals } = await ask("request_proposals", { ...key(), account, brief });
  const refinements = [{ proposal_id: proposals[0].proposal_id, action: "finalize" }];
  const { results } = await ask("refine_proposals", { ...key(), refinements });
  const { proposal_id, terms_digest } = results[0].proposal;
  const calls = {
    accept: { tool: "accept_proposal", args: { account, proposal_id, proposal_terms_digest: terms_digest } },
    create: { tool: "create_media_buy", args: { account, brand, ...flight, proposal_id } },
    decline: { tool: "decline_proposals", args: { declines: [{ proposal_id, reason: "budget_changed" }] } },
  };
  return { proposal_id, calls };
}

if (there) {
  test(`${engine}: however calls interleave, at most one order comes of a proposal, and none of one that was declined`, async () => {
    const place = await shop();
    const run = async (steps: readonly (readonly Doing[])[], feelings: readonly Mood[], restarts: boolean) => {
      place.feel(feelings);
      const { proposal_id, calls } = await committed(place.of(0));
      const under = key();
      let declined = false;
      let at = 0;
      for (const [index, together] of steps.entries()) {
        const made = together.map(async (what) => {
          const { tool, args } = calls[what === "repeat" ? "accept" : what];
          const call = { ...args, ...(what === "repeat" ? under : key()) };
          const { failed, payload } = await place
            .of(at++)
            .seller.call({ tool, args: call, transport: "mcp", identity: { principal: "buyer" } });
          if (
            !failed &&
            what === "decline" &&
            (payload as never as { results: { outcome: string }[] }).results[0]?.outcome === "declined"
          )
            declined = true;
        });
        await Promise.all(made);
        if (restarts && index === 0) await place.restart();
      }
      const { ask } = place.of(0);
      const ofProposal = async () =>
        (
          (await ask("get_media_buys", { account, pagination: { max_results: 100 } })).media_buys as {
            accepted_proposal_id?: string;
          }[]
        ).filter((one) => one.accepted_proposal_id === proposal_id).length;
      // What the ad server has not confirmed yet is carried on.
      await until(async () => (await ofProposal()) === place.booked.size, "what is booked is kept");
      assert.ok(place.booked.size <= 1, `${place.booked.size} orders of one proposal`);
      if (declined) assert.is(place.booked.size, 0, "it was declined");
    };
    await fc.assert(fc.asyncProperty(doings, moods, fc.boolean(), run), { numRuns: 6, endOnFailure: true });
    await place.close();
  });

  test(`${engine}: what the ad server refuses leaves its proposal to be bought; what is signed late is sold meanwhile to nobody`, async () => {
    const { adServer, booked, feel } = moodyServer();
    let decision: "go" | "wait" = "go";
    const { ask, refused, decide, start, close } = await behavingSeller(version, ["sales_non_guaranteed"], {
      ports: {
        adServer,
        catalogue: listedCatalogue([product]),
        approvals: { ask: async () => ({ decision }), signAfterMs: 1e12 },
      },
    });
    await start({ port: 0 });
    const { proposal_id, calls } = await committed({ ask } as TestSeller);
    const accept = () => ({ ...key(), ...calls.accept.args });
    feel(["refuses"]);
    assert.is((await refused("accept_proposal", accept())).code, "POLICY_VIOLATION");
    decision = "wait";
    const waiting = await ask("accept_proposal", accept());
    assert.is((await refused("accept_proposal", accept())).code, "INVALID_STATE");
    const { results } = await ask("decline_proposals", { ...key(), ...calls.decline.args });
    assert.is(results[0].outcome, "unable");
    await decide({ principal: "buyer", taskId: waiting.task_id, approved: false });
    const again = await ask("accept_proposal", accept());
    await decide({ principal: "buyer", taskId: again.task_id, approved: true });
    await until(async () => (await ask("get_task_status", { task_id: again.task_id })).status === "completed");
    const { media_buys } = await ask("get_media_buys", { account });
    assert.equal([booked.size, media_buys.length, media_buys[0].accepted_proposal_id], [1, 1, proposal_id]);
    const bought = await refused("accept_proposal", accept());
    assert.is(bought.code, "INVALID_STATE");
    await close();
  });
}

test.run();
