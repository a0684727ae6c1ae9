/** What a hostile or an absent file comes to, seen over HTTP. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { whole } from "./crawl-fixture.js";
import { lookup, openCrawling, origins, publisher } from "./server-crawl-fixture.js";
import { SELLER } from "./server-world.js";

const crawl = suite("files that reach for more, and files that are gone");

crawl("a file that names another's domain gets nothing of it, before its own file is known and after", async () => {
  const [attacker, victim] = ["attacker-news.com", "victim-news.com"];
  const evil = "https://evil-agent.com/mcp";
  const at = (domain: string) => `https://${domain}/.well-known/adagents.json`;
  const site = (domain: string, id: string) => ({
    property_id: id,
    property_type: "website",
    name: id,
    identifiers: [
      { type: "domain", value: domain },
      { type: "ios_bundle", value: `com.${id}` },
    ],
  });
  const pages = {
    [at(attacker)]: JSON.stringify({
      authorized_agents: [whole(attacker, evil)],
      properties: [
        site(attacker, "own"),
        { ...site(victim, "grab"), identifiers: [{ type: "domain", value: victim }] },
        { ...site(victim, "half"), publisher_domain: attacker },
      ],
    }),
    [at(victim)]: JSON.stringify({ authorized_agents: [whole(victim, SELLER)], properties: [site(victim, "main")] }),
  };
  const { setup } = await openCrawling({ crawl: { fetch: origins(pages), lookup } });
  const get = async (url: string) => (await setup.registry.app.inject(url)).json();
  const agentsOf = async (domain: string) =>
    (await get(`/api/registry/lookup/property?type=domain&value=${domain}`)).agents.map(
      ({ url, agent_url }: { url?: string; agent_url?: string }) => url ?? agent_url,
    );
  const expanded = async () => {
    const response = await setup.registry.app.inject({
      method: "POST",
      url: "/api/registry/expand/product-identifiers",
      payload: {
        agent_url: evil,
        publisher_properties: [{ publisher_domain: attacker }, { publisher_domain: victim }],
      },
    });
    return response
      .json()
      .identifiers.map(({ value }: { value: string }) => value)
      .sort();
  };
  try {
    await setup.registry.listen({ port: 0 });
    await publisher(setup, attacker);
    await until(async () => (await publisher(setup, attacker)).adagents_valid === true);
    assert.equal([await agentsOf(victim), await agentsOf(attacker)], [[], [evil]]);
    assert.equal(await expanded(), [attacker, "com.own"]);
    await publisher(setup, victim);
    await until(async () => (await publisher(setup, victim)).adagents_valid === true);
    assert.equal([await agentsOf(victim), await expanded()], [[SELLER], [attacker, "com.own"]]);
    const page = (await setup.registry.app.inject(`/publisher?domain=${attacker}`)).body;
    assert.match(page, "/properties/1/identifiers/0/value");
    assert.match(page, "declare it in the file of that domain");
  } finally {
    await setup.close();
  }
});

crawl("an origin that says there is no file is told so", async () => {
  const { setup } = await openCrawling({ crawl: { fetch: origins({}), lookup } });
  try {
    await setup.registry.listen({ port: 0 });
    await publisher(setup, "gone-news.com");
    await until(async () => (await publisher(setup, "gone-news.com")).hosting.last_http_status === 404);
    const { files, adagents_valid } = await publisher(setup, "gone-news.com");
    assert.equal([files.adagents_json.status, adagents_valid], ["absent", null]);
    assert.match((await setup.registry.app.inject("/publisher?domain=gone-news.com")).body, "No file.");
  } finally {
    await setup.close();
  }
});

crawl.run();
