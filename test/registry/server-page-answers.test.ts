/** What pages answer, asked without a browser: JSON, refusals, and nothing of a request as markup. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Setup, setupRegistry } from "./server-fixture.js";
import { crawlOf, entry, NEWS, OTHER, places, property, SELLER, seedWorld } from "./server-world.js";

const pages = suite("answers of pages");

let setup: Setup;

pages.before(async () => {
  setup = await setupRegistry({ now: Date.now });
  const organization = await setup.accounts.addOrganization({ name: "Seller", tier: "company_standard" });
  await seedWorld(setup.registry.data, organization.id);
});
pages.after(() => setup.close());

pages("every page is JSON by its path, and by what a request accepts", async () => {
  const { app } = setup.registry;
  for (const place of places.filter((one) => one !== "/")) {
    const [name, query = ""] = place.split("?");
    const byPath = await app.inject(`${name}.json?${query}`);
    const accepted = await app.inject({ url: place, headers: { accept: "text/html;q=0.5, application/json" } });
    assert.match(String(byPath.headers["content-type"]), "application/json", place);
    const fixed = (body: string): string => body.replace(/"last_updated": "[^"]*"/, "");
    assert.is(fixed(accepted.body), fixed(byPath.body), place);
    assert.is(accepted.headers.vary?.includes("Accept"), true, place);
    const html = await app.inject({ url: place, headers: { accept: "text/html,*/*;q=0.8" } });
    assert.match(String(html.headers["content-type"]), "text/html");
    assert.is(html.statusCode, byPath.statusCode);
  }
  const why = (await app.inject(`/why.json?domain=${NEWS}&agent=${OTHER}&property=main_site`)).json();
  assert.equal([why.may_sell, why.why_not[0].code], [false, "property_not_selected"]);
});

pages("the search can be closed to those without a credential", async () => {
  const closed = await setupRegistry({ pageSearch: false });
  const response = await closed.registry.app.inject("/agents?channels=ctv");
  assert.is(response.statusCode, 403);
  assert.match(response.body, "with a credential only");
  await closed.close();
});

pages("nothing of a request becomes markup", async () => {
  const { app } = setup.registry;
  const evil = `"><script>alert(1)</script>`;
  for (const url of [
    `/publisher?domain=${encodeURIComponent(evil)}`,
    `/agents?tags=${encodeURIComponent(evil)}&min_properties=x`,
    `/why?domain=${NEWS}&agent=${encodeURIComponent(evil)}&property=${encodeURIComponent(evil)}`,
    `/why?domain=${NEWS}&agent=${SELLER}&property=${encodeURIComponent(evil)}`,
    `/build?domain=${NEWS}&p0_name=${encodeURIComponent(evil)}&a0_url=${encodeURIComponent(evil)}`,
    `/publisher?domain=${NEWS}&q=${encodeURIComponent(evil)}&agent=${encodeURIComponent(evil)}`,
  ]) {
    const { body } = await app.inject(url);
    assert.not(body.includes("<script"), url);
    assert.match(body, "&lt;script&gt;");
  }
});

pages("a name that turns the direction of text turns none but its own", async () => {
  const { app, data } = setup.registry;
  const name = "Site \u202emoc.live";
  const turned = { ...property("turned", "website", [], "turned.example"), id: name, name };
  const plain = property("plain", "website", [], "turned.example");
  for (const properties of [[plain], [plain, turned]])
    await data.applyCrawl(crawlOf("turned.example", [entry(SELLER)], properties));
  const { body: why } = await app.inject(
    `/why?domain=turned.example&agent=${SELLER}&property=${encodeURIComponent(name)}`,
  );
  assert.match(why, `<bdi>${name}</bdi> of turned.example`);
  const { body: publisher } = await app.inject("/publisher?domain=turned.example");
  assert.match(publisher, `(<bdi>${name}</bdi>)`);
});

pages.run();
