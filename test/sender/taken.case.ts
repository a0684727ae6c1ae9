/** Registrations with members of the caller's own choice, on every store: nothing of what the sender notes is anybody's to say. */
import * as assert from "uvu/assert";
import { endpointOf } from "../../runtime/sender/endpoint-names.js";
import { until } from "../support/until.js";
import { codeIn, drained, HOUR, push, reopened, type SenderCase, start, suiteOf } from "./sender-suite.js";

const VICTIM = { principal: "victim", url: "https://victim.example/h" };
const forged = {
  endpoint: endpointOf(VICTIM),
  ...{ sealed: true, tokened: true, proven: false, moved: true, active: false, known: [], revision: "r" },
};

export function takenCase(of: SenderCase): void {
  const test = suiteOf(of, "what is taken of a registration");
  test("nobody's events run under another's name, or by what the sender notes itself", async (context) => {
    const { network } = context;
    const sender = await reopened(of, context, { reports: () => ({ currency: "EUR", media_buy_deliveries: [] }) });
    const mine = { ...push, ...forged };
    const attacker = { principal: "attacker" };
    await sender.tasks.register(start({ ...attacker, taskId: "p" }), { push: mine, a2a: { url: push.url, ...forged } });
    await sender.channels.open(
      { ...attacker, mediaBuyId: "mb" },
      { events: mine, reporting: { ...mine, reporting_frequency: "hourly" } },
    );
    await sender.channels.subscribe("list_change", { ...attacker, resource: "l" }, mine);
    await sender.tasks.update("p", { status: "working" });
    await sender.channels.impairment("mb", { notificationId: "i", eventType: "fraud", impairment: {} });
    const rows = [
      ...(await of.rows("select endpoint from adbind_jobs")),
      ...(await of.rows("select endpoint from adbind_channels where endpoint is not null")),
      ...(await of.rows("select push_endpoint as endpoint from adbind_sent_tasks")),
    ];
    assert.ok(rows.length === 7, `${rows.length} rows`);
    assert.equal(new Set(rows.map(({ endpoint }) => endpoint)), new Set([endpointOf({ ...attacker, url: push.url })]));
    const configs = (await of.rows("select config from adbind_channels")).map(({ config }) => String(config)).join();
    for (const name of Object.keys(forged)) assert.not.match(configs, `"${name}"`);
    sender.start();
    await until(() => drained(sender));
    assert.is(network.sent.length, 3);
  });

  test("a window that is none is refused, and not met when something happens", async ({ sender }) => {
    const buy = { mediaBuyId: "mb", principal: "buyer-1" };
    for (const optIn of [
      null,
      [],
      "x",
      { impairment: "x" },
      { impairment: -1 },
      { impairment: Number.NaN },
      { impairment: 1e12 },
    ]) {
      const events = { ...push, coalescenceOptIn: optIn as never };
      assert.is(codeIn(await sender.channels.open(buy, { events })), "INVALID_REQUEST", JSON.stringify(optIn));
    }
    const events = { ...push, coalescenceOptIn: { impairment: HOUR } };
    assert.equal(await sender.channels.open(buy, { events }), { ok: true });
    const bare = { ...push, authentication: null as never };
    assert.is(codeIn(await sender.tasks.register(start(), { push: bare })), "INVALID_REQUEST");
  });
  test.run();
}
