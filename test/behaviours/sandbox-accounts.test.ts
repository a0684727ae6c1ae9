/** Accounts for rehearsal: what is done with one touches no platform and costs nothing, or there is none. */
import { generateKeyPairSync } from "node:crypto";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { tokenAuth } from "../../runtime/seller/index.js";
import { behavingSeller, key, versions } from "./behaving-seller.js";
import { notingAdServer } from "./noting-ad-server.js";

const real = { brand: { domain: "acme.example" }, operator: "agency.example" };
const rehearsal = { ...real, sandbox: true };
const production = () => ({
  mode: "production" as const,
  auth: tokenAuth({ tokens: { "a token": "buyer" } }),
  key: { ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }), kid: "k1" },
});
const orderOf = (account: object) => ({
  ...{ ...key(), account, brand: real.brand, start_time: "asap", end_time: "2099-06-30T23:59:59Z" },
  packages: [{ product_id: "lifestyle_display_q2", pricing_option_id: "cpm_standard", budget: 2_000 }],
});
const specialisms = ["sales_non_guaranteed"];

for (const version of versions) {
  test(`${version}: a rehearsal in production is refused, and nothing of it reaches the ad server`, async () => {
    const { adServer, told } = notingAdServer();
    const made = await behavingSeller(version, specialisms, { ...production(), ports: { adServer } } as never);
    const { ask, refused, close } = made;
    assert.is((await ask("get_adcp_capabilities", {})).account.sandbox, false);
    const { code, field } = await refused("create_media_buy", orderOf(rehearsal));
    assert.equal([code, field], ["ACCOUNT_NOT_FOUND", "account.sandbox"]);
    const { accounts } = await ask("sync_accounts", { ...key(), accounts: [{ ...rehearsal, billing: "operator" }] });
    assert.is(accounts[0].action, "failed");
    assert.equal((await ask("list_accounts", {})).accounts, []);
    assert.equal(told, []);
    await ask("create_media_buy", orderOf(real));
    assert.is(told.length, 1);
    await close();
  });

  test(`${version}: in development every account is for rehearsal, and a seller says that it has them`, async () => {
    const { ask, close } = await behavingSeller(version, specialisms);
    assert.is((await ask("get_adcp_capabilities", {})).account.sandbox, true);
    const { media_buy_id } = await ask("create_media_buy", orderOf(rehearsal));
    const { media_buys } = await ask("get_media_buys", { account: real, media_buy_ids: [media_buy_id] });
    assert.is(media_buys.length, 1);
    await close();
  });
}

test.run();
