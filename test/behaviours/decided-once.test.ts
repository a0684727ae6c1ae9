/** An order that waits for a signature is decided once, whoever decides it at the same time. */
import { generateKeyPairSync } from "node:crypto";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { tokenAuth } from "../../runtime/seller/index.js";
import { behavingSeller, key, versions } from "./behaving-seller.js";
import { notingAdServer } from "./noting-ad-server.js";

const account = { brand: { domain: "acme.example" }, operator: "agency.example" };
const order = () => ({
  ...{ ...key(), account, brand: account.brand, start_time: "asap", end_time: "2099-06-30T23:59:59Z" },
  packages: [{ product_id: "lifestyle_display_q2", pricing_option_id: "cpm_standard", budget: 5_000 }],
});

for (const version of versions)
  test(`${version}: of two who decide at once, one alone is heard, and the order goes as that one said`, async () => {
    const { adServer, told } = notingAdServer();
    const approvals = { ask: async () => ({ decision: "wait" as const }) };
    const { ask, decide, seller, close } = await behavingSeller(version, ["sales_guaranteed"], {
      ports: { adServer, approvals },
    });
    const waiting = [];
    for (let at = 0; at < 8; at++) waiting.push((await ask("create_media_buy", order())).task_id as string);
    const said = [];
    for (const taskId of waiting) {
      const of = (approved: boolean) => decide({ principal: "buyer", taskId, approved });
      const [yes, no] = await Promise.allSettled([of(true), of(false)]);
      said.push(yes.status === "fulfilled");
      const fault = yes.status === "rejected" ? yes : no;
      assert.equal([yes, no].filter(({ status }) => status === "fulfilled").length, 1, taskId);
      assert.is((fault as PromiseRejectedResult).reason.code, "task_unknown");
    }
    const open = new Set((await seller.unfinished()).map(({ id }) => id));
    assert.equal(
      waiting.map((taskId) => open.has(taskId)),
      said,
    );
    assert.equal(told, []);
    await close();
  });

const [version] = versions;
if (version !== undefined)
  test("in production the log says that an order waits for a person, and under which task", async () => {
    const lines: string[] = [];
    const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    const { privateKey } = generateKeyPairSync("ed25519");
    const { ask, close } = await behavingSeller(version, ["sales_guaranteed"], {
      ...{ logger, mode: "production", auth: tokenAuth({ tokens: { "a token": "buyer" } }) },
      key: { ...privateKey.export({ format: "jwk" }), kid: "k1" },
      ports: { adServer: notingAdServer().adServer },
    });
    const [one] = order().packages;
    const { task_id } = await ask("create_media_buy", { ...order(), packages: [{ ...one, budget: 60_000 }] });
    const told = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.includes("waits for a signature"));
    assert.equal(
      told.map(({ principal, taskId, total }) => [principal, taskId, total]),
      [["buyer", task_id, 60_000]],
    );
    await close();
  });

test.run();
