/** The character that PostgreSQL keeps in no text: whoever sends it is told so, or has nothing, and nothing fails by it. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/index.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { bearer, setupRegistry } from "./server-fixture.js";
import { NEWS, SELLER, seedWorld } from "./server-world.js";

const cursor = (text: string): string => Buffer.from(text).toString("base64url");
const agent = encodeURIComponent(SELLER);

const refused: readonly string[] = [
  `/publisher?domain=${NEWS}&q=%00`,
  `/why?domain=${NEWS}&agent=${agent}&property=%00`,
  "/agents?tags=%00",
  "/api/search?q=a%00",
  "/api/brands/find?q=%00",
  "/api/registry/publishers?search=%00",
  "/api/registry/lookup/property?type=domain&value=%00",
  "/api/registry/agents/search?tags=%00",
];
const empty: readonly string[] = [
  `/api/registry/publishers?cursor=${cursor("a\0b")}`,
  `/api/registry/agents?cursor=${cursor("https://a\0")}`,
  `/publisher.json?domain=${NEWS}&cursor=${cursor("adagents_json a\0")}`,
];
const forms: readonly string[] = [
  "grant_type=authorization_code&code=a%00&client_id=a%00&redirect_uri=https%3A%2F%2Fx.example",
  "grant_type=refresh_token&refresh_token=a%00&client_id=a",
];

function tests(on: ReturnType<typeof suite>, open: () => Promise<PostgresStore | undefined>): void {
  on("texts with U+0000", async () => {
    const store = await open();
    const setup = await setupRegistry({ embeddedIssuer: true, now: Date.now, ...(store !== undefined && { store }) });
    try {
      const organization = await setup.accounts.addOrganization({ name: "Seller", tier: "company_standard" });
      await seedWorld(setup.registry.data, organization.id);
      const { key } = await setup.accounts.addKey(organization.id, "k");
      const status = async (url: string): Promise<number> =>
        (await setup.registry.app.inject({ url, headers: bearer(key) })).statusCode;
      for (const url of refused) assert.is(await status(url), 400, url);
      for (const url of empty) assert.is(await status(url), 200, url);
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      for (const payload of forms) {
        const answer = await setup.registry.app.inject({ method: "POST", url: "/oauth/token", headers, payload });
        assert.ok(answer.statusCode >= 400 && answer.statusCode < 500, `${payload} ${answer.body}`);
      }
      assert.equal(
        setup.logs.filter(({ level }) => level === 50),
        [],
        "nobody is woken",
      );
    } finally {
      await setup.close();
      await store?.close();
    }
  });
}

const sqlite = suite("U+0000, SQLite");
tests(sqlite, async () => undefined);
sqlite.run();

const postgres = suite("U+0000, PostgreSQL");
let cluster: TestDatabases;
postgres.before(async () => {
  cluster = await sharedPostgres();
});
postgres.after(() => cluster.stop());
tests(postgres, async () => openPostgresStore({ url: await cluster.database() }));
postgres.run();
