/** Who may call a seller over MCP, and how often. */
import { generateKeyPairSync } from "node:crypto";
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from "jose";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { jwtAuth, signatureAuth, tokenAuth } from "../../runtime/seller/index.js";
import { signRequestSync, staticKeys } from "../../runtime/signing/index.js";
import { buyRequest, mcp } from "./fixture.js";
import { sellerSuite, tool, with_ } from "./mcp-suite.js";

const test = sellerSuite("callers of a seller");

test("callers without good credentials are told which they need", async (context) => {
  await with_(context, { auth: tokenAuth({ tokens: { "key-of-buyer-1": "buyer-1" } }) }, async (seller) => {
    const open = await tool(seller, "get_agent_capabilities", {});
    assert.is(open.status, 200);
    const missing = await tool(seller, "get_products", {});
    assert.is(missing.status, 401);
    assert.is(missing.headers["www-authenticate"], 'Bearer realm="https://seller.example/mcp"');
    assert.is(missing.body.error.data.proto_error.code, "AUTH_MISSING");
    for (const method of ["initialize", "tools/list", "server/discover"]) {
      const { status, headers } = await mcp(seller, method, {});
      assert.equal([status, headers["www-authenticate"]], [401, missing.headers["www-authenticate"]], method);
    }
    assert.is((await mcp(seller, "tools/list", {}, { authorization: "Bearer key-of-buyer-1" })).status, 200);
    const bad = await tool(seller, "get_products", {}, { authorization: "Bearer nonsense" });
    assert.match(String(bad.headers["www-authenticate"]), /error="invalid_token"/);
    assert.is(bad.body.error.data.proto_error.code, "AUTH_INVALID");
    const brief = { buying_mode: "brief", brief: "b" };
    assert.is((await tool(seller, "get_products", brief, { authorization: "Bearer key-of-buyer-1" })).status, 200);
    for (const header of ["x-api-key", "x-proto-auth"])
      assert.is((await tool(seller, "get_products", brief, { [header]: "key-of-buyer-1" })).status, 200, header);
    const other = await tool(seller, "get_products", brief, { "x-proto-auth": "nonsense" });
    assert.is(other.body.error.data.proto_error.code, "AUTH_INVALID");
  });
});

test("who gets a signed webhook finds its keys by the agent's URL alone: the handshake and the capabilities are open", async (context) => {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "webhooks-1", alg: "EdDSA" };
  const auth = tokenAuth({ tokens: { "key-of-buyer-1": "buyer-1" } });
  await with_(context, { auth, signing: { key, keyid: key.kid } }, async (seller) => {
    const revision = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    assert.is((await mcp(seller, "initialize", revision)).status, 200);
    assert.is((await tool(seller, "get_agent_capabilities", {})).status, 200);
    assert.is((await mcp(seller, "tools/list", {})).status, 401, "what it offers is for its callers");
    assert.is((await tool(seller, "get_products", {})).status, 401);
  });
});

test("pages of the origins given may call, and read why they may not; the agents file says where", async (context) => {
  const page = "https://inspector.example";
  const auth = tokenAuth({ tokens: { "key-of-buyer-1": "buyer-1" } });
  await with_(context, { origins: [page], auth }, async (seller) => {
    const preflight = (origin: string) =>
      seller.app.inject({
        ...{ method: "OPTIONS", url: "/mcp" },
        headers: {
          ...{ origin, "access-control-request-method": "POST" },
          "access-control-request-headers": "content-type,mcp-protocol-version,mcp-method,mcp-name,authorization",
        },
      });
    const allowed = await preflight(page);
    assert.equal([allowed.statusCode, allowed.headers["access-control-allow-origin"]], [204, page]);
    assert.match(String(allowed.headers["access-control-allow-headers"]), /mcp-name/);
    assert.is((await preflight("https://evil.example")).statusCode, 403);
    const { status, headers } = await mcp(seller, "tools/list", {}, { origin: page });
    assert.equal([status, headers["access-control-allow-origin"]], [401, page]);
    assert.match(String(headers["access-control-expose-headers"]), /www-authenticate/);
    const { agents } = (await seller.app.inject("/.well-known/proto-agents.json")).json();
    assert.equal(
      agents.map(({ url, transport }: { url: string; transport: string }) => [transport, url]),
      ["mcp", "a2a"].map((name) => [name, `https://seller.example/${name}`]),
    );
    assert.equal(agents[0].specialisms, ["sales-guaranteed"]);
  });
  const none = await mcp(context.seller, "tools/list", {}, { origin: "https://seller.example" });
  assert.is(none.status, 200);
});

test("tokens of an issuer are taken for their audience, and the issuer is named", async (context) => {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA");
  const jwk = { ...(await exportJWK(publicKey)), kid: "i1", alg: "EdDSA" };
  const audience = "https://seller.example/mcp";
  const auth = jwtAuth({
    issuer: "https://login.example",
    audience,
    keys: createLocalJWKSet({ keys: [jwk] }),
    scopes: ["buy"],
  });
  const token = (over: { aud?: string; scope?: string; exp?: string } = {}) =>
    new SignJWT({ scope: over.scope ?? "buy", client_id: "buyer-9" })
      .setProtectedHeader({ alg: "EdDSA", kid: "i1" })
      .setIssuer("https://login.example")
      .setAudience(over.aud ?? audience)
      .setExpirationTime(over.exp ?? "5m")
      .sign(privateKey);
  await with_(context, { auth }, async (seller) => {
    const brief = { buying_mode: "brief", brief: "b" };
    const status = async (bearer: string) =>
      (await tool(seller, "get_products", brief, { authorization: `Bearer ${bearer}` })).status;
    assert.is(await status(await token()), 200);
    assert.is(await status(await token({ aud: "https://login.example" })), 401);
    assert.is(await status(await token({ scope: "read" })), 401);
    assert.is(await status(await token({ exp: "-5m" })), 401);
    assert.is(await status(`${(await token()).slice(0, -4)}AAAA`), 401);
    const { headers } = await tool(seller, "get_products", brief);
    const metadata = /resource_metadata="([^"]+)"/.exec(String(headers["www-authenticate"]))?.[1];
    const { pathname } = new URL(metadata!);
    const document = (await seller.app.inject(pathname)).json();
    assert.equal([document.resource, document.authorization_servers], [audience, ["https://login.example"]]);
  });
});

test("behind a path of a host the issuer is found where the challenge says, below that path, and where the root would have it", async (context) => {
  const baseUrl = "https://host.example/north";
  const keys = createLocalJWKSet({ keys: [] });
  const auth = jwtAuth({ issuer: "https://login.example", audience: `${baseUrl}/mcp`, keys });
  await with_(context, { auth, baseUrl }, async (seller) => {
    const { headers } = await tool(seller, "get_products", { buying_mode: "brief", brief: "b" });
    const place = /resource_metadata="([^"]+)"/.exec(String(headers["www-authenticate"]))![1]!;
    assert.ok(place.startsWith(`${baseUrl}/`), place);
    for (const path of [place.slice(baseUrl.length), "/.well-known/oauth-protected-resource/north/mcp"])
      assert.is((await seller.app.inject(path)).json().resource, `${baseUrl}/mcp`, path);
  });
});

test("signed requests are verified, and required where the capabilities say so", async (context) => {
  const pair = generateKeyPairSync("ed25519");
  const jwk = {
    ...pair.publicKey.export({ format: "jwk" }),
    kid: "b1",
    use: "sig",
    key_ops: ["verify"],
    alg: "EdDSA",
    proto_use: "request-signing",
  };
  const requestSigning = {
    keys: staticKeys([jwk as never], { sender: "https://buyer.example/agent" }),
    required_for: ["create_media_buy"],
  };
  await with_(context, { requestSigning, auth: signatureAuth() }, async (seller) => {
    const said = (await tool(seller, "get_agent_capabilities", {})).body.result.structuredContent;
    assert.equal(said.request_signing.required_for, ["create_media_buy"]);
    const payload = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "create_media_buy", arguments: buyRequest() },
    });
    const url = "https://seller.example/mcp";
    const signed = () =>
      signRequestSync(
        {
          method: "POST",
          url,
          headers: { "content-type": "application/json" },
          body: new TextEncoder().encode(payload),
        },
        { key: pair.privateKey, keyid: "b1" },
      ).headers as unknown as Record<string, string>;
    const send = async (headers: Record<string, string>, body = payload) =>
      seller.app.inject({
        method: "POST",
        url: "/mcp",
        headers: { host: "seller.example", "content-type": "application/json", accept: "application/json", ...headers },
        payload: body,
      });
    const unsigned = await send({});
    assert.is(unsigned.statusCode, 401);
    assert.is(unsigned.headers["www-authenticate"], 'Signature error="request_signature_required"');
    const good = signed();
    const taken = await send(good);
    assert.is(taken.json().result.structuredContent.status, "completed");
    assert.match(String((await send(good)).headers["www-authenticate"]), /replayed/);
    const changed = await send(signed(), payload.replace("prod_ctv_evening", "prod_later_today"));
    assert.is(changed.statusCode, 401);
  });
});

test("a principal that calls too often is told how long to wait", async (context) => {
  await with_(context, { limits: { calls: { reads: 3, writes: 2 } } }, async (seller) => {
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) statuses.push((await tool(seller, "get_agent_capabilities", {})).status);
    assert.equal(statuses, [200, 200, 200, 429, 429]);
    const { headers, body } = await tool(seller, "get_agent_capabilities", {});
    assert.ok(Number(headers["retry-after"]) >= 1);
    assert.is(body.error.code, -32029);
    assert.is(body.error.data.proto_error.code, "RATE_LIMITED");
    assert.is((await tool(seller, "create_media_buy", buyRequest())).status, 200, "writes are counted apart");
  });
});

test("pages of other origins may not call", async (context) => {
  await with_(context, { origins: ["https://console.example"] }, async (seller) => {
    const from = async (origin: string) => (await tool(seller, "get_agent_capabilities", {}, { origin })).status;
    assert.is(await from("https://evil.example"), 403);
    assert.is(await from("https://seller.example"), 200);
    assert.is(await from("https://console.example"), 200);
  });
});

test("of two pre-releases the newer one answers who asks for none, in whatever order they are given", async (context) => {
  const [older, newer] = ["3.1.0-beta.9", "3.1.0-beta.10"].map((version) => ({ ...release, version }));
  for (const given of [
    { release: older, releases: [newer] },
    { release: newer, releases: [older] },
  ]) {
    await with_(context, given, async (seller) => {
      const { structuredContent } = (await tool(seller, "get_agent_capabilities", {})).body.result;
      assert.equal(structuredContent.proto.supported_versions, ["3.1-beta.10", "3.1-beta.9"]);
    });
  }
});

test("a pre-release answers who pins it and nobody else, while the seller speaks a stable release too", async (context) => {
  const echo = { ...release.facts.envelope, versionEcho: { value: true, from: "version" } } as const;
  const stable = { ...release, facts: { ...release.facts, envelope: echo } };
  const versions = { next: "3.2.0-beta.0", far: "4.0.0-alpha.1" };
  const releases = [{ ...stable, version: versions.next }, { ...stable, version: versions.far }, stable];
  await with_(context, { release: releases[1]!, releases } as never, async (seller) => {
    const ask = async (pin: object) =>
      (await tool(seller, "get_agent_capabilities", pin)).body.result.structuredContent as Record<string, unknown>;
    const served = async (pin: object) => (await ask(pin)).proto_version;
    assert.is(await served({}), "3.1", "who pins nothing");
    assert.is(await served({ proto_major_version: 3 }), "3.1", "who pins a major version");
    assert.is(await served({ proto_version: "3.2" }), "3.1");
    assert.is(await served({ proto_version: "3.2-beta.0", proto_major_version: 3 }), "3.2-beta.0");
    assert.is(await served({ proto_major_version: 4 }), "4.0-alpha.1", "there is no other of it");
    const { proto_error: error } = (await ask({ proto_version: "4.0" })) as { proto_error: { code: string } };
    assert.is(error.code, "VERSION_UNSUPPORTED");
  });
});

test("tools are listed as the stable release has them, while a pre-release has lost one", async (context) => {
  const { get_products: _, ...tools } = release.tools;
  const next = { ...release, version: "3.2.0-beta.0", tools };
  await with_(context, { release: next, releases: [release] } as never, async (seller) => {
    const { tools: listed } = (await mcp(seller, "tools/list", {})).body.result as { tools: { name: string }[] };
    assert.ok(listed.some(({ name }) => name === "get_products"));
    const brief = { buying_mode: "brief", brief: "b" };
    const answered = async (pin: object) => (await tool(seller, "get_products", { ...brief, ...pin })).body.result;
    assert.is((await answered({})).structuredContent.proto_error, undefined);
    const { proto_error: error } = (await answered({ proto_version: "3.2-beta.0" })).structuredContent;
    assert.is(error.code, "UNSUPPORTED_FEATURE");
  });
});

test.run();
