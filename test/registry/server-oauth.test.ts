/** The embedded issuer, as an application and its user meet it: register, log in, allow, exchange, refresh, be refused. */
import { randomBytes } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { issuerAdapter } from "../../runtime/registry/server/auth/issuer-adapter.js";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/index.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { application, PASSWORD, REDIRECT } from "./server-application.js";
import { addUser, BASE_URL, cheapDigest, type Setup, setupRegistry } from "./server-fixture.js";

for (const kind of ["SQLite", "PostgreSQL"] as const) {
  const oauth = suite(`embedded issuer, ${kind}`);

  let setup: Setup;
  let store: PostgresStore | undefined;
  let cluster: TestDatabases | undefined;
  let organization: string;
  oauth.before(async () => {
    if (kind === "PostgreSQL") {
      cluster = await sharedPostgres();
      store = await openPostgresStore({ url: await cluster.database() });
    }
    setup = await setupRegistry({ embeddedIssuer: true, now: Date.now, ...(store !== undefined && { store }) });
    organization = (await setup.accounts.addOrganization({ name: "Buyer", tier: "company_standard" })).id;
    const user = { email: "Ada@buyer.example", password: PASSWORD, name: "Ada", organization };
    const { id } = await setup.accounts.addUser(user);
    await setup.registry.access.users.set(id, { password: cheapDigest(PASSWORD) });
  });
  oauth.after(async () => {
    await setup.close();
    await store?.close();
    await cluster?.stop();
  });

  const { browser, postJson, begin, authorize, exchange, tokens, search } = application(() => setup);

  oauth("metadata say what the provider does", async () => {
    const { app } = setup.registry;
    const own = (await app.inject("/.well-known/oauth-authorization-server")).json();
    const provider = (await app.inject("/.well-known/openid-configuration")).json();
    for (const [name, value] of Object.entries(own)) {
      const other = provider[name];
      if (name === "scopes_supported") assert.equal([...(value as string[])].sort(), [...other].sort(), name);
      else if (Array.isArray(value)) assert.equal([...value].sort(), [...other].sort(), name);
      else assert.equal(value, other, name);
    }
  });

  oauth("authorization code with PKCE gives a token for the API", async () => {
    const { access_token: token } = await tokens();
    assert.is(decodeProtectedHeader(token).alg, "ES256");
    const claims = decodeJwt(token);
    assert.is(claims.iss, BASE_URL);
    assert.is(claims.aud, `${BASE_URL}/api`);
    assert.ok(claims.exp! - claims.iat! <= 3600);
    assert.is((await search(token)).statusCode, 200);
  });

  oauth("a code works once, and a refresh token is replaced", async () => {
    const { flow, refresh_token: refresh } = await tokens();
    const again = await exchange({ grant_type: "refresh_token", client_id: flow.clientId, refresh_token: refresh });
    assert.is(again.statusCode, 200, again.body);
    const reused = await exchange({ grant_type: "refresh_token", client_id: flow.clientId, refresh_token: refresh });
    assert.is(reused.statusCode, 400);
    assert.is(reused.json().error, "invalid_grant");
  });

  oauth(
    "an access token dies with its grant: a code that comes twice, a refresh token revoked or used twice",
    async () => {
      const form = { "content-type": "application/x-www-form-urlencoded" };
      const taken = await tokens();
      const { clientId } = taken.flow;
      assert.is((await search(taken.access_token)).statusCode, 200);
      const payload = new URLSearchParams({ client_id: clientId, token: taken.refresh_token }).toString();
      const revoked = await setup.registry.app.inject({ method: "POST", url: "/oauth/revoke", payload, headers: form });
      assert.is(revoked.statusCode, 200, revoked.body);
      assert.is((await search(taken.access_token)).statusCode, 401);

      const family = await tokens();
      const refresh = () =>
        exchange({ grant_type: "refresh_token", client_id: family.flow.clientId, refresh_token: family.refresh_token });
      const next = (await refresh()).json().access_token;
      assert.is((await search(next)).statusCode, 200);
      assert.is((await refresh()).statusCode, 400);
      assert.is((await search(next)).statusCode, 401);

      const flow = await begin();
      const callback = await authorize(flow);
      const code = {
        grant_type: "authorization_code",
        client_id: flow.clientId,
        code: callback.searchParams.get("code")!,
        redirect_uri: flow.params.redirect_uri!,
        code_verifier: flow.verifier,
      };
      const first = (await exchange(code)).json().access_token;
      assert.is((await search(first)).statusCode, 200);
      assert.is((await exchange(code)).statusCode, 400);
      assert.is((await search(first)).statusCode, 401);
    },
  );

  oauth("without PKCE, with another verifier or for another resource nothing is given", async () => {
    const { code_challenge: _, code_challenge_method: __, ...plain } = (await begin()).params;
    const bare = await browser()("GET", `/oauth/authorize?${new URLSearchParams(plain)}`);
    assert.match(bare.headers.location ?? bare.body, /invalid_request/);

    const flow = await begin();
    const callback = await authorize(flow);
    const wrong = await exchange({
      grant_type: "authorization_code",
      client_id: flow.clientId,
      code: callback.searchParams.get("code")!,
      redirect_uri: REDIRECT,
      code_verifier: randomBytes(32).toString("base64url"),
    });
    assert.is(wrong.json().error, "invalid_grant");

    const elsewhere = await begin({ resource: "https://other.example/api" });
    const refused = await browser()("GET", `/oauth/authorize?${new URLSearchParams(elsewhere.params)}`);
    assert.match(refused.headers.location ?? refused.body, /invalid_target/);
  });

  oauth("a wrong password says no more than that", async () => {
    const flow = await begin();
    const go = browser();
    const page = (await go("GET", `/oauth/authorize?${new URLSearchParams(flow.params)}`)).headers.location!;
    const wrong = await go("POST", `${page}/login`, { email: "ada@buyer.example", password: "something else here" });
    const nobody = await go("POST", `${page}/login`, {
      email: "nobody@buyer.example",
      password: "something else here",
    });
    assert.is(wrong.statusCode, 400);
    assert.is(wrong.body.replace("ada@", ""), nobody.body.replace("nobody@", ""));
    const aborted = await go("POST", `${page}/abort`, {});
    const back = await go("GET", aborted.headers.location!);
    assert.match(back.headers.location!, /error=access_denied/);
  });

  oauth("who is suspended is refused, at log-in and with a token", async () => {
    const { access_token: token, flow, refresh_token: refresh } = await tokens();
    await setup.accounts.setUser("ada@buyer.example", { suspended: true });
    const response = await search(token);
    assert.is(response.statusCode, 403);
    assert.equal(response.json(), { error: "Account suspended", code: "account_suspended" });
    const renewed = await exchange({ grant_type: "refresh_token", client_id: flow.clientId, refresh_token: refresh });
    assert.is(renewed.statusCode, 400);
    await setup.accounts.setUser("ada@buyer.example", { suspended: false });
    await setup.accounts.setOrganization(organization, { suspended: true });
    assert.is((await search(token)).statusCode, 403);
    await setup.accounts.setOrganization(organization, { suspended: false });
    assert.is((await search(token)).statusCode, 200);
  });

  oauth("a new password ends the log-ins and tokens of before, and nobody else's", async () => {
    await addUser(setup, { email: "eve@buyer.example", password: PASSWORD });
    await addUser(setup, { email: "bob@buyer.example", password: PASSWORD });
    const [{ access_token: token, refresh_token: refresh, flow }, other] = [
      await tokens("eve@buyer.example"),
      await tokens("bob@buyer.example"),
    ];
    const go = browser();
    await authorize(await begin(), "eve@buyer.example", go);
    const asks = async () => go("GET", `/oauth/authorize?${new URLSearchParams((await begin()).params)}`);
    const consent = await go("GET", (await asks()).headers.location!);
    assert.match(consent.body, "Allow access?", "the browser is logged in");
    await setup.accounts.setUser("eve@buyer.example", { password: "another password of length" });
    assert.is((await search(token)).statusCode, 401);
    const renewed = await exchange({ grant_type: "refresh_token", client_id: flow.clientId, refresh_token: refresh });
    assert.is(renewed.json().error, "invalid_grant");
    assert.match((await go("GET", (await asks()).headers.location!)).body, /<label for="password">/);
    assert.is((await search(other.access_token)).statusCode, 200);
  });

  oauth("of two that use one code at once, one gets tokens", async () => {
    const flow = await begin();
    const code = (await authorize(flow)).searchParams.get("code")!;
    const values = {
      grant_type: "authorization_code",
      client_id: flow.clientId,
      code,
      redirect_uri: REDIRECT,
      code_verifier: flow.verifier,
    };
    const answers = await Promise.all([1, 2, 3, 4].map(() => exchange(values)));
    assert.is(answers.filter(({ statusCode }) => statusCode === 200).length, 1);
    for (const { statusCode, body } of answers) assert.ok(statusCode === 200 || /invalid_grant/.test(body), body);
  });

  oauth("of four that use one refresh token at once, one gets tokens", async () => {
    const { flow, refresh_token } = await tokens();
    const values = { grant_type: "refresh_token", client_id: flow.clientId, refresh_token };
    const answers = await Promise.all([1, 2, 3, 4].map(() => exchange(values)));
    assert.ok(answers.filter(({ statusCode }) => statusCode === 200).length <= 1);
    for (const { statusCode, body } of answers) assert.ok(statusCode === 200 || /invalid_grant/.test(body), body);
  });

  oauth("a record is used up once, whoever read it before", async () => {
    const Codes = issuerAdapter(setup.registry.access, Date.now);
    const [one, other] = [new Codes("AuthorizationCode"), new Codes("AuthorizationCode")];
    await one.upsert("c-1", { grantId: "g-1" }, 60);
    assert.ok((await one.find("c-1")) && (await other.find("c-1")));
    await one.consume("c-1");
    const refused = await other.consume("c-1").catch((error: Error) => error);
    assert.is((refused as { error?: string }).error, "invalid_grant");
    assert.type((await one.find("c-1"))!.consumed, "number");
    await one.revokeByGrantId("g-1");
    assert.is(await one.find("c-1"), undefined);
    await one.upsert("c-2", {}, -1);
    assert.is(await one.find("c-2"), undefined, "expired");
  });

  oauth("a token outlives its account as nobody's", async () => {
    await addUser(setup, { email: "gone@buyer.example", password: PASSWORD });
    const { access_token: token } = await tokens("gone@buyer.example");
    assert.is((await search(token)).statusCode, 200);
    const removal = "delete from adbind_users where email = 'gone@buyer.example'";
    await setup.store.database.write((q) => q.run(removal));
    assert.is((await search(token)).statusCode, 401);
  });

  oauth("an ID token is no access token", async () => {
    const { id_token: token } = await tokens();
    const response = await search(token);
    assert.is(response.statusCode, 401);
    assert.match(String(response.headers["www-authenticate"]), /^Bearer error="invalid_token"/);
  });

  oauth("a registration cannot make the server fetch", async () => {
    const response = await postJson("/oauth/register", {
      redirect_uris: [REDIRECT],
      sector_identifier_uri: "https://127.0.0.1/x.json",
    });
    assert.is(response.statusCode, 400);
  });

  oauth("nothing secret is logged", async () => {
    const { access_token: token, refresh_token: refresh } = await tokens();
    await search(token);
    const text = JSON.stringify(setup.logs);
    for (const secret of [token, refresh, PASSWORD]) assert.not(text.includes(secret));
  });

  oauth.run();
}
