/** Access tokens of other issuers: found by their metadata, and refused for every reason there is. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import nock from "nock";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fromSource } from "../runner/from-source.js";
import { BASE_URL, bearer, type Setup, setupRegistry } from "./server-fixture.js";

const ISSUER = "https://id.example/tenant";
const SEARCH = "/api/registry/agents/search";
const tokens = suite("tokens of other issuers");

let setup: Setup;
const pair = await generateKeyPair("ES256", { extractable: true });
const stranger = await generateKeyPair("ES256", { extractable: true });
const jwk = { ...(await exportJWK(pair.publicKey)), kid: "k1", alg: "ES256", use: "sig" };

tokens.before(() => nock.disableNetConnect());
tokens.before.each(async () => {
  setup = await setupRegistry({ embeddedIssuer: true, issuers: [{ issuer: ISSUER }] });
});
tokens.after.each(async () => {
  nock.cleanAll();
  await setup.close();
});
tokens.after(() => nock.enableNetConnect());

/** An issuer whose metadata are where RFC 8414 has them for a path, or where OpenID Connect has them. */
const serve = (place: "oauth" | "openid" = "oauth", metadata: object = {}): void => {
  const oauth = nock("https://id.example").get("/.well-known/oauth-authorization-server/tenant");
  const body = { issuer: ISSUER, jwks_uri: "https://id.example/jwks", ...metadata };
  if (place === "oauth") oauth.reply(200, body);
  else {
    oauth.reply(404);
    nock("https://id.example").get("/tenant/.well-known/openid-configuration").reply(200, body);
  }
  nock("https://id.example")
    .get("/jwks")
    .reply(200, { keys: [jwk] });
};

const sign = (claims: JWTPayload, { key = pair.privateKey, alg = "ES256", kid = "k1" } = {}): Promise<string> => {
  const seconds = Math.floor(setup.clock.ms / 1000);
  const whole = { iss: ISSUER, aud: `${BASE_URL}/api`, sub: "u1", exp: seconds + 300, ...claims };
  const kept = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
  return new SignJWT(kept).setProtectedHeader({ alg, kid }).sign(key);
};

const ask = (token: string) => setup.registry.app.inject({ url: SEARCH, headers: bearer(token) });

tokens("a token of a configured issuer is taken, its metadata asked for once", async () => {
  serve();
  assert.is((await ask(await sign({}))).statusCode, 200);
  assert.is((await ask(await sign({ sub: "u2" }))).statusCode, 200);
  assert.ok(nock.isDone());
});

tokens("OpenID Connect's place for metadata does too", async () => {
  serve("openid");
  assert.is((await ask(await sign({}))).statusCode, 200);
});

tokens("issuer, audience, expiry, subject, signature and algorithm are checked", async () => {
  serve();
  assert.is((await ask(await sign({}))).statusCode, 200);
  const seconds = Math.floor(setup.clock.ms / 1000);
  const bad: [string, string][] = [
    ["another issuer", await sign({ iss: "https://evil.example" })],
    ["another audience", await sign({ aud: `${BASE_URL}/other` })],
    ["no audience", await sign({ aud: undefined as never })],
    ["expired", await sign({ exp: seconds - 31 })],
    ["no expiry", await sign({ exp: undefined as never })],
    ["not yet", await sign({ nbf: seconds + 60 })],
    ["no subject", await sign({ sub: undefined as never })],
    ["another key", await sign({}, { key: stranger.privateKey })],
    ["unsigned", `${Buffer.from('{"alg":"none"}').toString("base64url")}.${(await sign({})).split(".")[1]}.`],
    ["no token", "a.b.c"],
    [
      "HMAC with the public key",
      await new SignJWT({ iss: ISSUER, aud: `${BASE_URL}/api`, sub: "u1", exp: seconds + 300 })
        .setProtectedHeader({ alg: "HS256", kid: "k1" })
        .sign(new TextEncoder().encode(JSON.stringify(jwk))),
    ],
  ];
  for (const [what, token] of bad) {
    const response = await ask(token);
    assert.is(response.statusCode, 401, what);
    const expired = what === "expired" ? "the token has expired" : "the credentials are not valid";
    assert.match(String(response.headers["www-authenticate"]), expired, what);
  }
  assert.is((await ask(await sign({ exp: seconds - 29 }))).statusCode, 200, "clocks may be half a minute apart");
});

tokens(
  "an issuer that cannot be asked is 503 where credentials are needed, and nobody where they are not",
  async () => {
    nock("https://id.example").get(/.*/).times(4).replyWithError("down");
    const token = await sign({});
    const response = await ask(token);
    assert.is(response.statusCode, 503);
    assert.is(response.json().code, "issuer_unavailable");
    assert.is(response.headers["retry-after"], "5");
    const open = await setup.registry.app.inject({
      url: "/api/registry/operator?domain=a.example",
      headers: bearer(token),
    });
    assert.is(open.statusCode, 200);
    nock.cleanAll();
    serve();
    assert.is((await ask(token)).statusCode, 503, "the failure is remembered for a while");
    setup.clock.ms += 6_000;
    assert.is((await ask(token)).statusCode, 200);
  },
);

tokens("an algorithm that is not on the issuer's list is refused", async () => {
  serve();
  const strict = await setupRegistry({ issuers: [{ issuer: ISSUER, algorithms: ["RS256"] }] });
  const token = await sign({});
  const response = await strict.registry.app.inject({ url: SEARCH, headers: bearer(token) });
  assert.is(response.statusCode, 401);
  assert.is((await ask(token)).statusCode, 200);
  await strict.close();
});

tokens("metadata of another issuer are not used", async () => {
  serve("oauth", { issuer: "https://evil.example" });
  assert.is((await ask(await sign({}))).statusCode, 503);
});

tokens("a claim names the organization, and a suspended one is refused", async () => {
  serve();
  const organization = await setup.accounts.addOrganization({ name: "O", tier: "company_leader" });
  const token = await sign({ org_id: organization.id });
  assert.is((await ask(token)).statusCode, 200);
  await setup.accounts.setOrganization(organization.id, { suspended: true });
  assert.is((await ask(token)).statusCode, 403);
});

tokens("the metadata name every issuer whose tokens are taken", async () => {
  const { app } = setup.registry;
  const resource = (await app.inject("/.well-known/oauth-protected-resource/api")).json();
  assert.equal(resource.authorization_servers, [BASE_URL, ISSUER]);
  const alone = await setupRegistry({ issuers: [{ issuer: ISSUER }] });
  const own = (await alone.registry.app.inject("/.well-known/oauth-protected-resource/api")).json();
  assert.equal(own.authorization_servers, [ISSUER]);
  assert.is((await alone.registry.app.inject("/.well-known/oauth-authorization-server")).statusCode, 404);
  assert.is((await alone.registry.app.inject("/oauth/authorize")).statusCode, 404);
  await alone.close();
});

tokens("a registry loads the embedded issuer only where it is on", () => {
  const program = `
    import { registerHooks } from "node:module";
    const { setupRegistry } = await import("./test/registry/server-fixture.ts");
    let loaded = 0;
    registerHooks({ load: (url, context, next) => ((loaded += url.includes("/oidc-provider/") ? 1 : 0), next(url, context)) });
    const counts = [];
    for (const embeddedIssuer of [false, true]) {
      const { close } = await setupRegistry({ embeddedIssuer });
      await close();
      counts.push(loaded > 0);
    }
    console.log(JSON.stringify(counts));
  `;
  const cwd = path.resolve(import.meta.dirname, "../..");
  const flags = [...fromSource, "--input-type=module", "--eval", program];
  const { stdout, stderr } = spawnSync(process.execPath, flags, { cwd, encoding: "utf8" });
  assert.is(stdout.trim(), "[false,true]", stderr);
});

tokens.run();
