/** What one buyer has with a seller is nobody else's: his ids say to a stranger what ids say that nobody has. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { behaviours } from "../../runtime/behaviours/areas.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { behavingSeller, key, publishedRelease, versions } from "./behaving-seller.js";
import { requestsOf } from "./every-tool.js";
import { lived, type Pool } from "./strangers-life.js";

/**
 * Tools of which one's own ids get no other answer than ids that nobody has, as far as requests are made here, and why. What they
 * say to strangers is compared all the same. A tool that is added is tried, or fails until it stands here.
 */
const untried: Readonly<Record<string, readonly string[]>> = {
  "it names nothing that is a buyer's": [
    ...["get_adcp_capabilities", "get_brand_identity", "get_creative_features", "get_principal", "get_rights"],
    ...["list_content_standards", "list_creative_formats", "list_transformers", "search_brands", "si_get_offering"],
    ...["list_products", "get_signals", "validate_input", "verify_brand_claim", "verify_brand_claims"],
  ],
  "it makes something new, or names an account by whom it is for, which is another one of every buyer's": [
    ...["acquire_rights", "create_collection_list", "create_content_standards", "create_property_list"],
    ...["get_account_financials", "list_account_changes", "sync_accounts", "sync_governance", "get_products"],
    ...["request_proposals", "si_initiate_session", "sync_agent_notification_configs", "sync_principal"],
  ],
  "it goes on from an offer, a signal or a report that no schema says the name of": [
    ...["activate_signal", "buy_products", "get_reporting_status", "sync_reporting_receipts", "sync_reporting_status"],
  ],
  "it is asked of buyers, and no seller answers it": ["creative_approval"],
  "releases before 3.2 have no ids of a buyer's in it": ["list_accounts", "preview_creative"],
  "a test's own tool, which names what it likes": ["comply_test_controller"],
};

/** Ids of the same make that nobody has. */
const unknownFor = (pool: Pool): ReadonlyMap<string, string> =>
  new Map([...pool.values()].flatMap((ids) => [...ids].map((id) => [id, `${id.slice(0, -5)}zzzzz`] as const)));

/** An answer without what differs from call to call whoever asks. */
function plain(answer: unknown, unknown: ReadonlyMap<string, string>): string {
  let text = JSON.stringify(answer);
  for (const [id, other] of unknown) text = text.replaceAll(id, "<id>").replaceAll(other, "<id>");
  return text
    .replace(/"(idempotency_key|ledger_snapshot_id|terms_digest|signature|request_hash)":"[^"]*",?/g, "")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/(?<=[_":])[0-9a-f]{16,}/g, "<made>")
    .replace(/eyJ[\w.-]+/g, "<token>");
}

const replaced = (request: JsonObject, ids: ReadonlyMap<string, string>): JsonObject => {
  let text = JSON.stringify(request);
  for (const [id, other] of ids) text = text.replaceAll(JSON.stringify(id), JSON.stringify(other));
  return JSON.parse(text) as JsonObject;
};

/** What would end what is asked about after it comes last. */
const ends = (tool: string): number => (/^delete_|_terminate_|^comply_/.test(tool) ? 1 : 0);

type Life = Awaited<ReturnType<typeof lived>>;

/** A tool's request with the other's ids wherever it has to name something, and with one more at each place that may have one. */
function probesOf(
  tool: string,
  { smallest, naming, places }: Awaited<ReturnType<typeof requestsOf>>,
  { pool, requests }: Pick<Life, "pool" | "requests">,
): JsonObject[] {
  const owned = new Set([...pool.values()].flatMap((ids) => [...ids]));
  const all = places(tool, new Set(pool.keys()));
  let base = requests.get(tool) ?? smallest(tool);
  if (base === undefined) return [];
  for (const place of all) {
    const [id = ""] = pool.get(place.name)!;
    const there = place.path.reduce<unknown>((at, step) => (at as JsonObject | undefined)?.[step], base);
    if (there !== undefined && !owned.has(there as string)) base = naming(tool, base, place, id) ?? base;
  }
  const probes: JsonObject[] = [base];
  for (const place of all)
    for (const id of pool.get(place.name)!) {
      const named = naming(tool, base, place, id);
      if (named !== undefined) probes.push(named);
    }
  return probes;
}

for (const version of versions)
  test(`${version}: no tool tells a stranger of what is another's, whatever he names`, async () => {
    const release = await publishedRelease(version);
    const seller = await behavingSeller(version, [], { with: behaviours.map(({ area }) => area) });
    const made = await requestsOf(release);
    const { keyed } = made;
    const { pool, requests, refused } = await lived(seller, "alice", release, made);
    assert.equal(refused, []);
    const unknown = unknownFor(pool);
    const call = async (tool: string, args: JsonObject, principal: string): Promise<string> => {
      const identity = { principal };
      const asked = { tool, args: { ...keyed(tool, args), ...args } as never, transport: "mcp" as const, identity };
      return plain((await seller.seller.call(asked)).payload, unknown);
    };
    const tools = Object.keys(release.tools).sort((a, b) => ends(a) - ends(b));
    const probes = tools.flatMap((tool) =>
      probesOf(tool, made, { pool, requests }).map((request) => ({ tool, request })),
    );
    const before = await snapshot();
    let strangers = 0;
    const told: string[] = [];
    for (const { tool, request } of probes) {
      const stranger = ++strangers;
      const his = await call(tool, request, `bob ${stranger}`);
      const nobodys = await call(tool, replaced(request, unknown), `carol ${stranger}`);
      if (his !== nobodys) told.push(`${tool} ${JSON.stringify(request)}\n  ${his}\n  ${nobodys}`);
    }
    assert.is(await snapshot(), before, "and he changes nothing");
    for (const [tool, request] of requests) {
      if (!Object.hasOwn(keyed(tool, {}), "idempotency_key")) continue;
      const same = { ...request, ...key() };
      await call(tool, same, "alice");
      // The key of somebody else's call is a new one.
      const his = await call(tool, same, `dave ${tool}`);
      if (his !== (await call(tool, { ...request, ...key() }, `erin ${tool}`)))
        told.push(`${tool} by its key\n  ${his}`);
    }
    assert.equal(told, []);
    const tried = new Set<string>();
    for (const { tool, request } of probes) {
      if (tried.has(tool)) continue;
      const nobodys = await call(tool, replaced(request, unknown), "alice");
      if ((await call(tool, request, "alice")) !== nobodys) tried.add(tool);
    }
    const left = tools.filter((tool) => !tried.has(tool));
    console.log(`${version}: ${probes.length} requests; not tried: ${left.join(", ")}`);
    const accounted = new Set(Object.values(untried).flat());
    assert.equal(
      left.filter((tool) => !accounted.has(tool)),
      [],
    );
    await seller.close();

    /** What the other has, as he reads it. */
    async function snapshot(): Promise<string> {
      const reads = [...requests].filter(([tool]) => /^(get|list)_/.test(tool));
      const all: string[] = [];
      for (const [tool, request] of reads) all.push(await call(tool, request, "alice"));
      return all.join("\n");
    }
  });

test.run();
