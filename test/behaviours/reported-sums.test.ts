/** Sums that buyers are told: of packages, days, accounts and currencies; and whose they are. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };
const until = { start_time: "asap", end_time: "2099-02-01T00:00:00Z" };
const order = (more: object = {}) => ({ ...key(), account, brand, ...until, packages: [line], ...more });
const otherBrand = { domain: "other.example" };
const other = { brand: otherBrand, operator: account.operator };
const areas = { with: ["financials", "usage", "delivery"] };

interface Figures {
  readonly impressions: number;
  readonly spend: number;
}
interface PackageFigures extends Figures {
  readonly daily_breakdown?: readonly (Figures & { readonly date: string })[];
}

const sold = async (version: string, more: Parameters<typeof behavingSeller>[2] = {}) => {
  const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ...areas, ...more });
  const simulate = (media_buy_id: string, spent: number, delivery_date: string, impressions = 0) =>
    seller.ask("comply_test_controller", {
      scenario: "simulate_delivery",
      params: { media_buy_id, impressions, delivery_date, reported_spend: { amount: spent, currency: "USD" } },
    });
  return { ...seller, simulate };
};

const cents = (all: readonly Figures[]): number => all.reduce((sum, { spend }) => sum + Math.round(spend * 100), 0);

for (const version of versions) {
  test(`${version}: packages and days come to what the buy delivered, to the cent`, async () => {
    let now = Date.parse("2026-10-24T12:00:00Z");
    const { ask, simulate, close } = await sold(version, { now: () => now });
    const { media_buy_id } = await ask("create_media_buy", order({ packages: [line, line, line] }));
    now = Date.parse("2026-11-03T12:00:00Z");
    await simulate(media_buy_id, 100, "2026-10-25", 1_000);
    await simulate(media_buy_id, 0.01, "2026-11-01", 1);
    const delivery = async (more: object = {}) => {
      const wanted = { media_buy_ids: [media_buy_id], include_package_daily_breakdown: true, ...more };
      const [{ totals, by_package }] = (await ask("get_media_buy_delivery", wanted)).media_buy_deliveries;
      return { totals, lines: by_package as PackageFigures[] };
    };
    const { totals, lines } = await delivery();
    assert.equal([totals.spend, totals.impressions, cents(lines)], [100.01, 1_001, 10_001]);
    for (const one of lines) {
      const days = one.daily_breakdown ?? [];
      assert.equal([cents(days), days[0]?.date], [cents([one]), "2026-10-25"]);
    }
    const month = await delivery({ start_date: "2026-10-01", end_date: "2026-11-01" });
    assert.equal([month.totals.spend, cents(month.lines)], [100, 10_000]);
    const dates = month.lines.flatMap(({ daily_breakdown: days = [] }) => days.map(({ date }) => date));
    assert.equal([...new Set(dates)], ["2026-10-25"], "no day outside of those that were asked for");
    await close();
  });

  test(`${version}: an ad server that knows its days is asked for each of them`, async () => {
    const asked: unknown[] = [];
    let packageId = "";
    const adServer = {
      book: async () => ({ orderId: "o1" }),
      change: async () => undefined,
      pause: async () => undefined,
      resume: async () => undefined,
      cancel: async () => undefined,
      delivery: async (_: unknown, days: { from?: string | undefined; before?: string | undefined }) => {
        asked.push(days);
        const [from, before] = [days.from ?? "2026-10-24", days.before ?? "2026-10-28"];
        const count = (Date.parse(before) - Date.parse(from)) / 86_400_000;
        return { [packageId]: { impressions: 10 * count, clicks: 0, spend: 0.1 * count, conversions: 0 } };
      },
    };
    let now = Date.parse("2026-10-24T12:00:00Z");
    const { ask, close } = await sold(version, { ports: { adServer }, now: () => now });
    const { media_buy_id, packages } = await ask("create_media_buy", order());
    packageId = packages[0].package_id;
    now = Date.parse("2026-10-27T12:00:00Z");
    const wanted = { media_buy_ids: [media_buy_id], include_package_daily_breakdown: true };
    const [{ by_package }] = (await ask("get_media_buy_delivery", wanted)).media_buy_deliveries;
    assert.equal(
      by_package[0].daily_breakdown.map(({ date, spend }: { date: string; spend: number }) => [date, spend]),
      ["2026-10-24", "2026-10-25", "2026-10-26", "2026-10-27"].map((date) => [date, 0.1]),
    );
    await close();
  });

  test(`${version}: figures of one account are not another's, and a day is one of the calendar`, async () => {
    const { ask, refused, simulate, close } = await sold(version);
    const { media_buy_id } = await ask("create_media_buy", order());
    await ask("create_media_buy", order({ account: other, brand: otherBrand }));
    await simulate(media_buy_id, 7, "2026-11-01");
    const named = { media_buy_ids: [media_buy_id] };
    assert.is((await ask("get_media_buy_delivery", { ...named, account })).aggregated_totals.spend, 7);
    const foreign = await ask("get_media_buy_delivery", { ...named, account: other });
    assert.equal([foreign.media_buy_deliveries, foreign.errors[0].code], [[], "MEDIA_BUY_NOT_FOUND"]);
    assert.equal((await ask("get_media_buys", { ...named, account: other })).media_buys, []);
    for (const start_date of ["2026-13-45", "2026-02-30"])
      assert.is((await refused("get_media_buy_delivery", { ...named, start_date })).field, "start_date");
    await close();
  });

  test(`${version}: windows that no product has are refused where the release has a word for it`, async () => {
    const { ask, refused, close } = await sold(version);
    const { media_buy_id } = await ask("create_media_buy", order());
    const wanted = { media_buy_ids: [media_buy_id], time_granularity: "hourly" };
    if (version.startsWith("3.0")) await ask("get_media_buy_delivery", wanted);
    else assert.is((await refused("get_media_buy_delivery", wanted)).code, "UNSUPPORTED_GRANULARITY");
    await close();
  });

  test(`${version}: an account's spend is that of the period, its credit all that was spent`, async () => {
    const now = () => Date.parse("2026-11-20T12:00:00Z");
    const terms = { currency: "USD", limit: 50 };
    const open = async <T>(one: T): Promise<T> => one;
    const accounts = { open, credit: async () => terms, billing: ["operator"] };
    const { ask, simulate, close } = await sold(version, { now, ports: { accounts } });
    const { media_buy_id } = await ask("create_media_buy", order());
    await simulate(media_buy_id, 40.1, "2026-10-05");
    await simulate(media_buy_id, 20.2, "2026-11-30");
    const of = (start: string, end: string) => ask("get_account_financials", { account, period: { start, end } });
    assert.equal((await of("2020-01-01", "2020-02-01")).spend, { total_spend: 0, media_buy_count: 0 });
    const november = await of("2026-11-01", "2026-11-30");
    assert.equal(november.spend, { total_spend: 20.2, media_buy_count: 1 });
    assert.equal(november.credit, { credit_limit: 50, available_credit: -10.3, utilization_percent: 100 });
    const [{ account_id }] = (await ask("list_accounts", {})).accounts;
    await ask("comply_test_controller", {
      account: { ...account, sandbox: true },
      scenario: "force_account_status",
      params: { account_id, status: "payment_required" },
    });
    assert.is((await of("2026-11-01", "2026-11-30")).payment_status, "past_due");
    terms.currency = "EUR";
    const dollars = await of("2026-11-01", "2026-11-30");
    assert.equal([dollars.currency, dollars.spend.total_spend, dollars.credit], ["USD", 20.2, undefined]);
    await close();
  });

  test(`${version}: usage is of the account that has the buy, in a period that does not end before it starts`, async () => {
    const { ask, refused, close } = await sold(version);
    const { media_buy_id } = await ask("create_media_buy", order());
    await ask("create_media_buy", order({ account: other, brand: otherBrand }));
    const usage = [{ account, media_buy_id, vendor_cost: 5, currency: "USD" }];
    const reported = (start: string, end: string, more: object = {}) => ({
      ...key(),
      reporting_period: { start: `${start}T00:00:00Z`, end: `${end}T00:00:00Z` },
      usage: usage.map((one) => ({ ...one, ...more })),
    });
    assert.is((await ask("report_usage", reported("2026-11-01", "2026-11-02"))).accepted, 1);
    const foreign = await ask("report_usage", reported("2026-11-01", "2026-11-02", { account: other }));
    assert.equal([foreign.accepted, foreign.errors[0].field], [0, "usage[0].media_buy_id"]);
    const backwards = await refused("report_usage", reported("2026-11-02", "2026-11-01"));
    assert.is(backwards.field, "reporting_period.end");
    await close();
  });
}

for (const version of versions)
  test(`${version}: what a test says was played is acknowledged whole, and stands in the figures`, async () => {
    const { ask, close } = await sold(version);
    const { media_buy_id } = await ask("create_media_buy", order());
    const dooh_metrics = { loop_plays: 125, screens_used: 18, screen_time_seconds: 2_500, sov_achieved: 0.25 };
    const params = { media_buy_id, plays: 125, dooh_metrics };
    const { simulated } = await ask("comply_test_controller", { scenario: "simulate_delivery", params });
    assert.equal([simulated.plays, simulated.dooh_metrics, simulated.impressions], [125, dooh_metrics, 0]);
    const [delivered] = (await ask("get_media_buy_delivery", { media_buy_ids: [media_buy_id] })).media_buy_deliveries;
    for (const { plays, dooh_metrics: detail } of [delivered.totals, delivered.by_package[0]])
      assert.equal([plays, detail], [/^3\.0\./.test(version) ? undefined : 125, dooh_metrics], "a count of 3.1 on");
    await close();
  });

test.run();
