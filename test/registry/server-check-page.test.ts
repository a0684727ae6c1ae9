/** The page that looks at a file, for people without a script: pasted, or at its domain. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DOMAIN, lookup, origins, pages } from "./server-crawl-fixture.js";
import { type Setup, setupRegistry } from "./server-fixture.js";
import { SELLER } from "./server-world.js";

const check = suite("the page that looks at a file");

let setup: Setup;
check.before(async () => {
  setup = await setupRegistry({ crawling: "queue", crawl: { fetch: origins(pages), lookup } });
});
check.after(() => setup.close());

const post = (fields: Record<string, string>) =>
  setup.registry.app.inject({
    method: "POST",
    url: "/check",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    payload: new URLSearchParams(fields).toString(),
  });

/** What a reader sees, without marks. */
const textOf = (body: string): string => body.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

const file = `{
  "authorized_agents": [
    { "url": "${SELLER}", "authorized_for": "All", "authorization_type": "property_ids", "property_ids": ["site"] },
    { "url": "http://other.example/<script>", "authorized_for": "All" }
  ],
  "properties": [{ "property_id": "site", "property_type": "website", "name": "S", "identifiers": [{ "type": "domain", "value": "news.com" }] }]
}`;

check("a pasted file: every fault with its line, pointer, rule and remedy, and the text is there still", async () => {
  const { statusCode, body, headers } = await post({ domain: "news.com", file });
  assert.is(statusCode, 200, body);
  assert.match(textOf(body), "Valid. 1 of its entries");
  assert.match(textOf(body), /\/authorized_agents\/1 line 4 url is not an https URL agent_url give the agent/);
  assert.match(body, "&lt;script&gt;");
  assert.not.match(body, "<script>");
  assert.match(String(headers["content-security-policy"]), "default-src 'none'");
});

check("what is no file, no domain, or nobody's is said", async () => {
  assert.match(
    textOf((await post({ domain: "news.com", file: "{" })).body),
    "Not valid for news.com: the file cannot be read",
  );
  const none = await post({ domain: "nowhere", file });
  assert.equal([none.statusCode, textOf(none.body).includes("This is no domain")], [400, true]);
  assert.match(textOf((await post({ domain: "internal.com" })).body), "Nothing may be fetched");
});

check("the file at a domain, by a link that can be shared, and nothing is kept of it", async () => {
  const { body } = await setup.registry.app.inject(`/check?domain=${DOMAIN}`);
  assert.match(textOf(body), "Valid. 1 of its entries let agents sell");
  const { adagents_valid } = await setup.registry.data.lookupPublisher(DOMAIN);
  assert.is(adagents_valid, null);
  assert.is((await setup.registry.app.inject("/check")).statusCode, 200);
});

check.run();
