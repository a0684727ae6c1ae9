/** What a caller reads of its account is its own, whatever its seller calls the accounts of others. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Account } from "../../runtime/behaviours/index.js";
import { openAccounts } from "../../runtime/behaviours/ports/accounts.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import { account, behavingSeller, brand, key } from "./behaving-seller.js";

/** The release that has such a feed. */
const version = "3.2.4";
const there = publishedReleases().some((release) => release.endsWith(`/${version}`));
if (!there) console.log(`skipped: no release ${version} in ${corpus}`);

const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };
const until = { start_time: "asap", end_time: "2099-02-01T00:00:00Z" };
/** As the seller's books have it: one advertiser, whoever buys for it. */
const ref = { account_id: "advertiser-17" };

if (there)
  test(`${version}: two callers of an account of one id read each of its own changes alone`, async () => {
    const accounts = { ...openAccounts, open: async (one: Account) => ({ ...one, ...ref }) };
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], {
      with: ["accounts", "account-changes"],
      ports: { accounts },
    });
    const buy = async (principal: string): Promise<string> =>
      (await seller.ask("create_media_buy", { ...key(), account, brand, ...until, packages: [line] }, principal))
        .media_buy_id;
    const read = (principal: string, more: object = {}) =>
      seller.ask("list_account_changes", { account: ref, ...more }, principal);
    const told = ({ changes }: { changes: { resource: { type: string; resource_id: string } }[] }) =>
      changes.flatMap(({ resource: { type, resource_id } }) => (type === "media_buy" ? [resource_id] : []));
    const own = await buy("agency-a");
    const first = await read("agency-a");
    const theirs = await buy("agency-b");
    assert.equal(told(await read("agency-a")), [own]);
    assert.equal((await read("agency-a", { cursor: first.cursor })).changes, []);
    assert.equal(told(await read("agency-b")), [theirs]);
    await seller.close();
  });

test.run();
