/** Keys of the embedded issuer change while tokens, sessions and instances go on. */
import { decodeProtectedHeader, importJWK, SignJWT } from "jose";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { issuerKeys, rotateIssuerKey } from "../../runtime/registry/server/auth/issuer-keys.js";
import { openPostgresStore, type PostgresStore, registryAccess, type SqliteStore } from "../../runtime/store/index.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { application, PASSWORD } from "./server-application.js";
import { addUser, BASE_URL, type Setup, setupRegistry } from "./server-fixture.js";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

for (const kind of ["SQLite", "PostgreSQL"] as const) {
  const keys = suite(`keys of the embedded issuer, ${kind}`);
  let cluster: TestDatabases | undefined;
  let setup: Setup;
  let store: SqliteStore | PostgresStore | undefined;
  const ahead = { ms: 0 };
  const now = (): number => Date.now() + ahead.ms;
  const { tokens, exchange, search } = application(() => setup);

  keys.before(async () => {
    if (kind === "PostgreSQL") cluster = await sharedPostgres();
  });
  keys.after(() => cluster?.stop());
  keys.before.each(async () => {
    ahead.ms = 0;
    store = cluster === undefined ? undefined : await openPostgresStore({ url: await cluster.database() });
    setup = await setupRegistry({ embeddedIssuer: true, now, ...(store !== undefined && { store }) });
    const organization = (await setup.accounts.addOrganization({ name: "Buyer", tier: "company_standard" })).id;
    await addUser(setup, { email: "ada@buyer.example", password: PASSWORD, organization });
  });
  keys.after.each(async () => {
    await setup.close();
    await store?.close();
  });

  const kidOf = (token: string): string => decodeProtectedHeader(token).kid!;
  const access = () => setup.registry.access;
  const published = async (): Promise<string[]> =>
    (await setup.registry.app.inject("/oauth/jwks")).json().keys.map(({ kid }: { kid: string }) => kid);
  const statusOf = async (token: string): Promise<number> => (await search(token)).statusCode;

  keys("a new key is published, then signs; the old one verifies until its last token has expired", async () => {
    const first = await tokens();
    const [old] = await published();
    assert.is(kidOf(first.access_token), old);
    const { jwk } = await rotateIssuerKey(access(), now());
    ahead.ms += 31 * SECOND_MS;
    assert.equal(await published(), [old, jwk.kid], "published at once");
    assert.is(kidOf((await tokens()).access_token), old, "and signs later");

    ahead.ms += 90 * SECOND_MS;
    const second = await tokens();
    assert.equal([kidOf(second.access_token), kidOf(second.id_token)], [jwk.kid, jwk.kid]);
    assert.equal(await published(), [jwk.kid, old]);
    assert.equal([await statusOf(first.access_token), await statusOf(second.access_token)], [200, 200]);
    const renewed = await exchange({
      grant_type: "refresh_token",
      client_id: first.flow.clientId,
      refresh_token: first.refresh_token,
    });
    assert.is(renewed.statusCode, 200, renewed.body);
    assert.is(kidOf(renewed.json().access_token), jwk.kid, "who logged in before the change stays so");

    ahead.ms += 64 * MINUTE_MS;
    assert.equal(await published(), [jwk.kid, old]);
    ahead.ms += 2 * MINUTE_MS;
    assert.equal(await published(), [jwk.kid]);
    const stored = (await issuerKeys(access(), now())).map((key) => key.jwk.kid);
    assert.equal(stored, [jwk.kid]);
  });

  keys("a key that leaked is dropped at once, and what it signed is refused", async () => {
    const { access_token: token } = await tokens();
    const [old] = await issuerKeys(access(), now());
    const { sub, grant } = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());
    const forge = async (): Promise<string> =>
      new SignJWT({ sub, grant, scope: "openid" })
        .setProtectedHeader({ alg: "ES256", kid: old!.jwk.kid!, typ: "at+jwt" })
        .setIssuer(BASE_URL)
        .setAudience(`${BASE_URL}/api`)
        .setExpirationTime("1h")
        .setIssuedAt()
        .sign(await importJWK(old!.jwk, "ES256"));
    assert.is(await statusOf(await forge()), 200, "whoever has the key is anybody");
    const { jwk } = await rotateIssuerKey(access(), now(), true);
    ahead.ms += 30 * SECOND_MS;
    assert.equal(await published(), [jwk.kid]);
    assert.equal([await statusOf(token), await statusOf(await forge())], [401, 401]);
    assert.is(await statusOf((await tokens()).access_token), 200);
  });

  keys("an instance learns of a key when it first sees it", async () => {
    const other = await setupRegistry({ embeddedIssuer: true, store: setup.store, now });
    try {
      await rotateIssuerKey(access(), now(), true);
      ahead.ms += SECOND_MS;
      const fresh = await setupRegistry({ embeddedIssuer: true, store: setup.store, now });
      const { access_token: token } = await application(() => fresh).tokens();
      await fresh.close();
      assert.is((await application(() => other).search(token)).statusCode, 200);
    } finally {
      await other.close();
    }
  });

  keys("a key from before they could be changed goes on, and two who change it at once both do", async () => {
    const [first] = await issuerKeys(access(), now());
    const both = registryAccess(setup.store.database);
    const value = await both.secret("issuer-key", () => "", now());
    assert.is(JSON.parse(value).kid, first!.jwk.kid, "a key alone");
    // Neither writes before both have read.
    let reads = 0;
    const { promise: read, resolve } = Promise.withResolvers<void>();
    const late: typeof both = {
      ...both,
      async secret(...args) {
        const known = await both.secret(...args);
        reads += 1;
        if (reads === 2) resolve();
        await read;
        return known;
      },
    };
    const made = await Promise.all([rotateIssuerKey(late, now()), rotateIssuerKey(late, now())]);
    assert.is(reads, 3, "one of them had to look again");
    const known = await issuerKeys(both, now());
    assert.is(known[0]!.jwk.kid, first!.jwk.kid);
    assert.equal(known.map(({ jwk }) => jwk.kid).sort(), [first!, ...made].map(({ jwk }) => jwk.kid).sort());
    assert.is(known.filter(({ retires }) => retires === null).length, 1);
  });

  keys.run();
}
