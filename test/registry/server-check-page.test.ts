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

const recheck = (domain: string, headers: Record<string, string> = {}) =>
  setup.registry.app.inject({
    method: "POST",
    url: "/publisher/recheck",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    payload: new URLSearchParams({ domain }).toString(),
  });

check(
  "recheck now: a crawl is asked for and the page waits for it; not twice in five minutes, not from elsewhere",
  async () => {
    const foreign = await recheck(DOMAIN, { "sec-fetch-site": "cross-site" });
    assert.is(foreign.statusCode, 403);
    const asked = await recheck(DOMAIN, { "sec-fetch-site": "same-origin" });
    assert.equal([asked.statusCode, asked.headers.location], [303, `/publisher?domain=${DOMAIN}`]);
    const waiting = await setup.registry.app.inject(`/publisher?domain=${DOMAIN}`);
    assert.is(waiting.headers.refresh, "4");
    assert.match(textOf(waiting.body), "It is being fetched now");
    assert.is((await setup.registry.app.inject(`/publisher.json?domain=${DOMAIN}`)).json().being_fetched, true);
    const inside = await recheck("internal.com");
    assert.is(inside.statusCode, 400);
    assert.match(textOf(inside.body), "cannot be crawled");
    assert.is((await recheck("nowhere")).statusCode, 400);
  },
);

check("recheck now: a caller has as many as the API gives", async () => {
  const limited = await setupRegistry({
    crawling: "queue",
    crawl: { fetch: origins(pages), lookup },
    limits: { crawl: 1 },
  });
  const ask = (domain: string) =>
    limited.registry.app.inject({
      method: "POST",
      url: "/publisher/recheck",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      payload: `domain=${domain}`,
    });
  assert.is((await ask("one.com")).statusCode, 303);
  assert.is((await ask("two.com")).statusCode, 429);
  await limited.close();
});

check.run();
