/** Which agent a step is for, where a run has agents of other roles. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { release } from "../../generated/3.1.0/index.js";
import { readStoryboard } from "../../runtime/conformance/document.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { names, runSmall, smallAgent, suiteOf } from "./small-agent.js";

const SALES = "https://sales.example/mcp";
const phases = (task: string): string =>
  `id: own\nphases: [{id: p, steps: [{id: order, task: ${task}, sample_request: {note: x}}]}]`;

/** Who is asked for a task, an order by default, by a storyboard that names nobody. @param file where it stands in its suite */
async function askedOf(file: string, protocol: string, offers: boolean, task = "create_media_buy", head = "") {
  const asked: string[] = [];
  const seller = (who: string, speaks: string, has: boolean) =>
    smallAgent({
      [names.capabilitiesTool]: () => ({
        status: "completed",
        [release.word]: { major_versions: [3] },
        supported_protocols: [speaks],
      }),
      ...(has && {
        [task]: () => {
          asked.push(who);
          return { media_buy_id: "mb-1" };
        },
      }),
    });
  const [own, sales] = [seller("own", protocol, offers), seller("sales", "media_buy", true)];
  const suite = {
    ...suiteOf(phases(task)),
    storyboards: [readStoryboard(file, parse(head + phases(task)) as JsonObject)],
  };
  const { steps } = await runSmall(
    suite,
    {},
    { agents: { sales: SALES }, fetch: (url, init) => (String(url).startsWith(SALES) ? sales : own)(url, init) },
  );
  return { asked, status: steps.get("order")?.status };
}

test("what every agent must do is asked of the agent under test alone", async () => {
  assert.equal(await askedOf("universal/own.yaml", "brand", false), { asked: [], status: "skipped" });
});

test("elsewhere a step goes to the agent that claims the task's protocol", async () => {
  assert.equal(await askedOf("protocols/brand/own.yaml", "brand", false), { asked: ["sales"], status: "passed" });
});

test("what was put into the agent under test is asked of nobody else", async () => {
  const head = "prerequisites: {controller_seeding: true}\nfixtures: {products: [{product_id: p}]}\n";
  const { asked } = await askedOf("specialisms/creative/own.yaml", "creative", false, "create_media_buy", head);
  assert.equal(asked, []);
});

test("accounts are every role's: the agent under test is asked where it keeps them", async () => {
  const file = "specialisms/brand-rights/own.yaml";
  for (const task of ["sync_governance", "sync_accounts"])
    assert.equal(await askedOf(file, "brand", true, task), { asked: ["own"], status: "passed" }, task);
  assert.equal((await askedOf(file, "brand", false, "sync_governance")).asked, ["sales"]);
});

test("the agent under test answers for what it offers, and for what it claims, be the tool there or not", async () => {
  assert.equal(await askedOf("protocols/brand/own.yaml", "brand", true), { asked: ["own"], status: "passed" });
  const file = "protocols/media-buy/own.yaml";
  assert.equal(await askedOf(file, "media_buy", true), { asked: ["own"], status: "passed" });
  assert.equal(await askedOf(file, "media_buy", false), { asked: [], status: "skipped" });
});

test.run();
