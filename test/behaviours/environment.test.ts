/** Settings as a container gives them: each that cannot be used is named, and what is read is what was meant. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, SignJWT } from "jose";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fromEnvironment, type SellerEnvironment } from "../../runtime/behaviours/index.js";
import { tempFolder } from "../support/release.js";

const DATA = tempFolder();
const from = (environment: SellerEnvironment) => fromEnvironment({ DATA, ...environment });

const refusalOf = (environment: SellerEnvironment): Promise<{ where?: string; remedy?: string; message: string }> =>
  from(environment).then(
    () => assert.unreachable(JSON.stringify(environment)),
    (error) => error,
  );

test("a setting that is there and empty is named, whichever it is", async () => {
  const names = [
    "PORT",
    "HOST",
    "BASE_URL",
    "MODE",
    "DATABASE_URL",
    "SIGNING_KEY",
    "TOKENS",
    "ISSUER",
    "METRICS_TOKEN",
  ];
  for (const name of [...names, "ORIGINS", "TRUST_PROXY", "LOG_LEVEL", "DATA"]) {
    const { where, remedy } = await refusalOf({ [name]: " " });
    assert.equal([where, remedy], [name, "give a value, or leave it out"]);
  }
});

test("a port that there is not is refused as a port, and a free one where callers are told another", async () => {
  for (const PORT of ["65536", "99999", "http", "-1"]) assert.is((await refusalOf({ PORT })).where, "PORT");
  assert.match((await refusalOf({ PORT: "0" })).remedy!, "BASE_URL");
  const { listen, baseUrl } = await from({ PORT: "0", BASE_URL: "https://seller.example" });
  assert.equal([listen.port, baseUrl], [0, "https://seller.example"]);
});

test("an address of the sixth version of IP stands in brackets in a URL", async () => {
  assert.is((await from({ HOST: "::1", PORT: "3001" })).baseUrl, "http://[::1]:3001");
});

test("proxies are addresses, networks or their names, and anything else is told which setting it is of", async () => {
  const { trustProxy } = await from({ TRUST_PROXY: "10.0.0.0/8, ::1, loopback" });
  assert.equal(trustProxy, ["10.0.0.0/8", "::1", "loopback"]);
  assert.is((await from({ TRUST_PROXY: "true" })).trustProxy, true);
  for (const TRUST_PROXY of ["1", "false", "proxy.example", "10.0.0.0/33"])
    assert.is((await refusalOf({ TRUST_PROXY })).where, "TRUST_PROXY", TRUST_PROXY);
});

test("origins are what browsers send, however they were written, and what is none is refused", async () => {
  const { origins } = await from({ ORIGINS: "https://App.example/, http://localhost:8080,https://b.example:443" });
  assert.equal(origins, ["https://app.example", "http://localhost:8080", "https://b.example"]);
  for (const ORIGINS of ["app.example", "*", "https://app.example/page", "localhost:8080"])
    assert.is((await refusalOf({ ORIGINS })).where, "ORIGINS", ORIGINS);
});

/** An issuer with a path, whose metadata are where a standard puts them. */
async function withIssuer(
  place: (path: string) => string,
  work: (issuer: string, sign: (audience: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const keys = { keys: [{ ...(await exportJWK(publicKey as KeyObject)), kid: "k", alg: "EdDSA" }] };
  let issuer = "";
  const server = createServer(({ url }, response) => {
    const found = url === place("/realms/ads") ? { issuer, jwks_uri: `${issuer}/keys` } : undefined;
    const body = url === "/realms/ads/keys" ? keys : found;
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/ads`;
  const sign = (audience: string) =>
    new SignJWT({ client_id: "buyer", aud: audience, iss: issuer })
      .setProtectedHeader({ alg: "EdDSA", kid: "k" })
      .setExpirationTime("5m")
      .sign(privateKey);
  try {
    await work(issuer, sign);
  } finally {
    server.close();
  }
}

const places = [
  (path: string) => `/.well-known/oauth-authorization-server${path}`,
  (path: string) => `${path}/.well-known/openid-configuration`,
];

test("an issuer is found by its path, as either standard has it, and its tokens open each endpoint they are made out to", async () => {
  for (const place of places)
    await withIssuer(place, async (issuer, sign) => {
      const { auth } = await from({ ISSUER: issuer, BASE_URL: "https://seller.example/ads/" });
      const comes = async (audience: string) =>
        auth!.authenticate({
          headers: { authorization: `Bearer ${await sign(audience)}` },
          signer: undefined,
          ip: "127.0.0.1",
        });
      for (const path of ["/mcp", "/a2a", "/legacy/mcp", "/legacy/a2a"])
        assert.equal(await comes(`https://seller.example/ads${path}`), { principal: "buyer" }, path);
      assert.is(await comes("https://other.example/mcp"), undefined);
      const { where, message } = await refusalOf({ ISSUER: `${issuer}/` });
      assert.is(where, "ISSUER");
      assert.match(message, issuer);
    });
});

test.run();
