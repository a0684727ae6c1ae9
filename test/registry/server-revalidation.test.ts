/** What is asked to be looked at again: a manager's publishers, and the origin of a hosted file. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { hostedUrl } from "../../runtime/registry/model.js";
import { dueDomains } from "../../runtime/store/registry-crawl.js";
import { lookup, openCrawling, origins } from "./server-crawl-fixture.js";
import { BASE_URL, bearer } from "./server-fixture.js";
import { crawlOf } from "./server-world.js";

const crawl = suite("asked to be looked at again");

crawl("a manager's publishers are due when what is kept of its file has run out, and not again at once", async () => {
  const { setup, token } = await openCrawling({ crawling: "queue" });
  const { data } = setup.registry;
  const managed = { method: "ads_txt_managerdomain", managerDomain: "manager.example" } as const;
  for (const domain of ["one.example", "two.example"]) await data.applyCrawl(crawlOf(domain, [], [], managed));
  await data.applyCrawl(crawlOf("three.example", [], []));
  const ask = () =>
    setup.registry.app.inject({
      method: "POST",
      url: "/api/registry/manager-revalidation-request",
      payload: { manager_domain: "Manager.example" },
      headers: bearer(token),
    });
  const before = Date.now();
  const answer = await ask();
  assert.equal([answer.statusCode, answer.json().publishers_enqueued], [202, 2], answer.body);
  const due = (at: number) => setup.store.database.query((q) => dueDomains(q, at, 10));
  assert.equal(await due(before + 299_000), []);
  assert.equal((await due(Date.now() + 300_000)).map(({ domain }) => domain).sort(), ["one.example", "two.example"]);
  const again = await ask();
  assert.equal([again.statusCode, again.json().code], [429, "debounced"]);
  await setup.close();
});

crawl("an origin is asked now whether it points at the file hosted for it", async () => {
  const answers: Record<string, string> = {};
  const { setup, token } = await openCrawling({ crawling: "queue", crawl: { fetch: origins(answers), lookup } });
  const { data } = setup.registry;
  const nothing = { agents: [], properties: [], genres: [], genreTaxonomy: null, lastUpdated: null, others: [] };
  const verify = async (domain: string, answer?: object) => {
    if (answer !== undefined) answers[`https://${domain}/.well-known/adagents.json`] = JSON.stringify(answer);
    const url = `/api/properties/hosted/${domain}/verify-origin`;
    return setup.registry.app.inject({ method: "POST", url, headers: bearer(token) });
  };
  for (const domain of ["gone.example", "here.example", "there.example", "own.example"])
    await data.putHostedFile(domain, { file: { authorized_agents: [] }, content: nothing });
  assert.is((await verify("other.example")).statusCode, 404);
  const here = { authoritative_location: hostedUrl(BASE_URL, "here.example") };
  const said = [
    await verify("gone.example"),
    await verify("here.example", here),
    await verify("there.example", here),
    await verify("own.example", { authorized_agents: [] }),
  ].map((one) => [one.json().verified, one.json().reason].join(" "));
  assert.equal(said, [
    "false not_found",
    "true authoritative_location_pointer",
    "false authoritative_location_mismatch",
    "false no_authoritative_location",
  ]);
  assert.type((await data.hostedFile("here.example"))!.originVerifiedAt, "number");
  assert.is((await verify("here.example")).statusCode, 429);
  await setup.close();
});

crawl.run();
