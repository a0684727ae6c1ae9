/** An identifier that many publishers name: anybody may name anybody's app, with five thousand agents each. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createRegistryData } from "../../runtime/registry/data.js";
import { importRegistry } from "../../runtime/registry/transfer/import.js";
import type { RegistryData } from "../../runtime/registry/types.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";

const APP = "com.big.app";
const agentAt = (index: number): string => `https://a${index}.seller.example/mcp`;

/** @param ids names of properties in each entry; the app's is the first */
function publisher(domain: string, agents: number, ids: number): string {
  const property = (index: number) => ({
    property_id: `p${index}`,
    property_type: "mobile_app",
    name: "App",
    identifiers: [{ type: "ios_bundle", value: index === 0 ? APP : `com.other${index}` }],
  });
  return JSON.stringify({
    kind: "publisher",
    domain,
    crawl: { outcome: "valid", valid: true, method: "direct" },
    adagents_json: {
      properties: Array.from({ length: ids }, (_, index) => property(index)),
      authorized_agents: Array.from({ length: agents }, (_, index) => ({
        url: agentAt(index),
        authorized_for: "All",
        authorization_type: "property_ids",
        property_ids: Array.from({ length: ids }, (_, id) => `p${id}`),
      })),
    },
  });
}

async function withPublishers(
  lines: readonly string[],
  work: (data: RegistryData, store: SqliteStore) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-crowded-"));
  const store = openSqliteStore({ path: path.join(folder, "registry.db") });
  try {
    await importRegistry(store, lines, {});
    await work(createRegistryData(store), store);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

test("of an identifier a thousand agents are listed, whoever names it how often, and an answer says that there are more", async () => {
  const lines = Array.from({ length: 4 }, (_, index) => publisher(`p${index}.example`, 600, 1));
  await withPublishers(lines.slice(0, 1), async (data) => {
    const { agents, count, truncated } = await data.lookupProperty("ios_bundle", APP);
    assert.equal([agents.length, count, truncated], [600, 600, undefined]);
  });
  await withPublishers(lines, async (data) => {
    const { agents, count, truncated } = await data.lookupProperty("ios_bundle", APP);
    assert.equal([agents.length, count, truncated], [1_000, 1_000, true]);
    const one = await data.lookupProperty("ios_bundle", APP, agentAt(599));
    assert.equal([one.count, one.truncated], [4, undefined]);
  });
});

test("no more is read of an identifier than the files of a few publishers, and one agent is found in all of them", async () => {
  // Of each entry some ten kilobytes are kept.
  const lines = Array.from({ length: 6 }, (_, index) => publisher(`p${index}.example`, 150, 1_500));
  await withPublishers(lines, async (data) => {
    const { count, truncated } = await data.lookupProperty("ios_bundle", APP);
    assert.equal([count < 600, truncated], [true, true], `${count}`);
    assert.is((await data.lookupProperty("ios_bundle", APP, agentAt(149))).count, 6);
  });
});

/** Every property of it has the app's identifier; the agent named last may sell one that has not. */
const squatter = (domain: string, agent: string, ids: number): string => {
  const line = JSON.parse(publisher(domain, 1, ids)) as {
    adagents_json: { properties: object[]; authorized_agents: object[] };
  };
  const { properties, authorized_agents: agents } = line.adagents_json;
  const app = [{ type: "ios_bundle", value: APP }];
  line.adagents_json.properties = [
    ...properties.map((one) => ({ ...one, identifiers: app })),
    {
      property_id: "none",
      property_type: "website",
      name: "None",
      identifiers: [{ type: "ios_bundle", value: "com.none" }],
    },
  ];
  const part = { authorized_for: "All", authorization_type: "property_ids", property_ids: ["none"] };
  line.adagents_json.authorized_agents = [...agents, { url: agent, ...part }];
  return JSON.stringify(line);
};

test("a file that names an app in each of its properties takes one place, and one that names the agent too hides nothing", async () => {
  const seller = "https://seller.example/mcp";
  const genuine = publisher("popular.example", 1, 1).replace(agentAt(0), seller);
  await withPublishers([squatter("squatter.example", seller, 150), genuine], async (data) => {
    const { agents, truncated } = await data.lookupProperty("ios_bundle", APP);
    assert.equal([agents.map(({ url }) => url).sort(), truncated], [[agentAt(0), seller], undefined]);
    const one = await data.lookupProperty("ios_bundle", APP, seller);
    assert.equal(
      [one.agents.map(({ publisher_domain }) => publisher_domain), one.truncated],
      [["popular.example"], undefined],
    );
  });
  const many = Array.from({ length: 120 }, (_, at) => squatter(`s${at}.squatter.example`, seller, 1));
  await withPublishers([...many, genuine], async (data) => {
    assert.is((await data.lookupProperty("ios_bundle", APP)).truncated, true);
    const one = await data.lookupProperty("ios_bundle", APP, seller);
    assert.equal(
      [one.agents.map(({ publisher_domain }) => publisher_domain), one.truncated],
      [["popular.example"], undefined],
    );
  });
});

test("a lookup of a publisher reads no entry, which may name thousands of properties in each of a file's", async () => {
  await withPublishers([publisher("p0.example", 60, 100)], async (data, { database }) => {
    const asked = async () => [await data.lookupPublisher("p0.example"), await data.lookupDomain("p0.example")];
    const found = await asked();
    const { authorized_agents: agents } = await data.lookupPublisher("p0.example");
    assert.equal([agents.length, agents[0]!.properties_authorized, agents[0]!.properties_total], [60, 100, 100]);
    await database.execute("update adbind_registry_authorizations set entries = 'unread'", []);
    assert.equal(await asked(), found);
  });
});

test.run();
