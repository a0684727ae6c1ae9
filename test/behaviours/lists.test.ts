/** Property and collection lists: what they come to, who is told, and delivery held to them. */

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { behavingSeller, key, type TestSeller, versions } from "./behaving-seller.js";

/** A seller of lists, closed when the test is done. */
const withSeller = (name: string, body: (own: TestSeller) => Promise<void>): void => {
  for (const version of versions)
    test(`${version}: ${name}`, async () => {
      const own = await behavingSeller(version, ["property_lists", "collection_lists"]);
      try {
        await body(own);
      } finally {
        await own.close();
      }
    });
};

const account = (domain = "acmeoutdoor.example") => ({ account: { brand: { domain }, operator: "pinnacle.example" } });

const domains = (...values: string[]) => [
  { selection_type: "identifiers", identifiers: values.map((value) => ({ type: "domain", value })) },
];

const resolved = async (own: TestSeller, list_id: string): Promise<string[]> => {
  const { identifiers } = await own.ask("get_property_list", { list_id });
  return identifiers.map(({ value }: { value: string }) => value);
};

withSeller("a list of no named account is the only one's, and refused where there are several", async (own) => {
  const make = (more: object = {}) => ({ ...key(), name: "list", base_properties: domains("a.example"), ...more });
  const ownerOf = async (request: object) => (await own.ask("create_property_list", request)).list.account?.account_id;
  assert.is(await ownerOf(make()), undefined, "there is no account yet");
  const first = await ownerOf(make(account()));
  assert.is(await ownerOf(make()), first);
  await own.ask("create_property_list", make(account("other.example")));
  const { code, field } = await own.refused("create_property_list", make());
  assert.equal([/^ACCOUNT_(?:REQUIRED|AMBIGUOUS)$/.test(code), field], [true, "account"]);
});

withSeller("a list is its sources less what its filters leave out", async (own) => {
  const make = async (filters: object, base_properties: object[] = []): Promise<string[]> => {
    const request = { ...key(), name: "list", ...(base_properties.length > 0 && { base_properties }), filters };
    const { list } = await own.ask("create_property_list", request);
    return resolved(own, list.list_id);
  };
  const tagged = [{ selection_type: "publisher_tags", publisher_domain: "citynews.example", tags: ["news"] }];
  assert.equal(await make({}, tagged), ["citynews.example"]);
  const excluded = { exclude_identifiers: [{ type: "domain", value: "CityNews.example" }] };
  assert.equal(await make(excluded, domains("citynews.example", "other.example")), ["other.example"]);
  const safe = (more: object) => ({
    feature_requirements: [{ feature_id: "brand_safety_score", min_value: 90, ...more }],
  });
  const some = domains("outdoormagazine.example", "quickclicks.example", "unknown.example");
  assert.equal(await make(safe({}), some), ["outdoormagazine.example"]);
  const { list } = await own.ask("create_property_list", {
    ...key(),
    name: "with gaps",
    base_properties: some,
    filters: safe({ if_not_covered: "include" }),
  });
  const found = await own.ask("get_property_list", { list_id: list.list_id });
  assert.is(found.identifiers.length, 2);
  assert.equal(found.coverage_gaps.brand_safety_score, [{ type: "domain", value: "unknown.example" }]);
  assert.is((await make({ countries_all: ["CH"] })).length, 1);
});

withSeller("delivery is judged by the list as it is now", async (own) => {
  const { list } = await own.ask("create_property_list", {
    ...key(),
    name: "list",
    base_properties: domains("a.example"),
  });
  const records = [
    { record_id: "1", identifier: { type: "domain", value: "A.example" }, impressions: 5 },
    { record_id: "2", identifier: { type: "domain", value: "b.example" }, impressions: 7 },
    { record_id: "3", identifier: { type: "station_id", value: "x" }, impressions: 1 },
  ];
  const judge = () => own.ask("validate_property_delivery", { list_id: list.list_id, records });
  const first = await judge();
  assert.not.ok(first.compliant);
  assert.equal(
    [first.summary.compliant_impressions, first.summary.non_compliant_impressions, first.summary.unidentified_records],
    [5, 7, 1],
  );
  assert.is(first.results[0].features[0].feature_id, "record:list_membership");
  const base_properties = domains("a.example", "b.example");
  await own.ask("update_property_list", { ...key(), list_id: list.list_id, base_properties });
  assert.ok((await judge()).compliant);
});

withSeller("lists belong to their account and their caller", async (own) => {
  const { list } = await own.ask("create_property_list", { ...key(), ...account(), name: "Ours" });
  const { list_id } = list;
  assert.is((await own.ask("list_property_lists", { ...account(), name_contains: "our" })).lists.length, 1);
  assert.is((await own.ask("list_property_lists", account("novamotors.example"))).lists.length, 0);
  const foreign = await own.refused("get_property_list", { ...account("novamotors.example"), list_id });
  const stranger = await own.refused("get_property_list", { list_id }, "somebody-else");
  const none = await own.refused("get_property_list", { list_id: "none" });
  assert.is(none.code, "REFERENCE_NOT_FOUND");
  assert.equal([foreign, stranger], [none, none]);
  assert.ok((await own.ask("delete_property_list", { ...key(), list_id })).deleted);
  assert.is((await own.refused("get_property_list", { list_id })).code, "REFERENCE_NOT_FOUND");
});

withSeller("who follows a list is told of changes, of those that change it", async (own) => {
  // biome-ignore lint/suspicious/noExplicitAny: bodies as they come
  const told: any[] = [];
  const follower = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    told.push({ signed: request.headers["signature-input"] !== undefined, ...JSON.parse(body) });
    response.end();
  });
  await new Promise<void>((resolve) => follower.listen(0, "127.0.0.1", resolve));
  try {
    // Webhooks go out while the seller runs.
    await own.mount();
    const { port } = follower.address() as AddressInfo;
    const request = { ...key(), name: "Followed", base_properties: domains("a.example") };
    const { list_id } = (await own.ask("create_property_list", request)).list;
    const change = (more: object) => own.ask("update_property_list", { ...key(), list_id, ...more });
    await change({ webhook_url: `http://127.0.0.1:${port}/lists` });
    await change({ name: "Renamed" });
    await change({ base_properties: domains("b.example", "c.example") });
    await until(() => told.length > 0, "the follower is told");
    await own.ask("delete_property_list", { ...key(), list_id });
    // What follows another list's change is told after whatever was to be told of this one.
    const other = (await own.ask("create_property_list", { ...request, ...key(), name: "Other" })).list;
    const follow = { list_id: other.list_id, webhook_url: `http://127.0.0.1:${port}/lists` };
    await own.ask("update_property_list", { ...key(), ...follow });
    await own.ask("update_property_list", { ...key(), ...follow, base_properties: domains("d.example") });
    await until(() => told.some((one) => one.list_id === other.list_id), "the follower of the other list is told");
    assert.is(told.filter((one) => one.list_id === list_id).length, 1);
    const [{ signed, signature, event, list_id: which, list_name, change_summary: summary }] = told;
    assert.is(signature, "rfc9421", "the body says where its signature is");
    assert.equal([signed, event, which, list_name], [true, "property_list_changed", list_id, "Renamed"]);
    assert.equal(summary, { properties_added: 2, properties_removed: 1, total_properties: 2 });
  } finally {
    follower.close();
  }
});

withSeller("an address notices may not go to is refused with nothing changed", async (own) => {
  const { list_id } = (await own.ask("create_property_list", { ...key(), name: "List" })).list;
  const change = { ...key(), list_id, name: "Changed", webhook_url: "ftp://follower.example/lists" };
  assert.is((await own.refused("update_property_list", change)).field, "webhook_url");
  assert.is((await own.ask("get_property_list", { list_id })).list.name, "List");
});

withSeller("collections stay in where nothing is known of them, and the gaps are named", async (own) => {
  const imdb = (value: string) => ({ type: "imdb_id", value });
  const { list } = await own.ask("create_collection_list", {
    ...key(),
    name: "Shows",
    base_collections: [
      { selection_type: "distribution_ids", identifiers: [imdb("tt9100001"), imdb("tt9100003"), imdb("tt0000001")] },
    ],
    filters: { kinds: ["series"], content_ratings_exclude: [{ system: "tv_parental", rating: "TV-MA" }] },
  });
  const found = await own.ask("get_collection_list", { list_id: list.list_id });
  assert.equal(
    found.collections.map(({ name }: { name: string }) => name),
    ["Trail Life", "tt0000001"],
  );
  assert.equal(Object.keys(found.coverage_gaps).sort(), ["content_rating", "kind"]);
  const bare = await own.ask("get_collection_list", { list_id: list.list_id, resolve: false });
  assert.is(bare.collections, undefined);
});

withSeller("a list made twice with one key is one list", async (own) => {
  const request = { idempotency_key: randomUUID(), name: "Once" };
  const first = await own.ask("create_collection_list", request);
  const again = await own.ask("create_collection_list", request);
  assert.equal([again.replayed, again.auth_token], [true, first.auth_token]);
  assert.is((await own.ask("list_collection_lists", {})).lists.length, 1);
});

test.run();
