import { test } from "uvu";
import * as assert from "uvu/assert";
import { missOf } from "../../runtime/buyer/fault.js";
import { agentsFrom, createBuyer, type OAuthOptions, type OAuthTokens } from "../../runtime/buyer/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import type { AdbindError } from "../../runtime/errors.js";
import { createGuardedFetch, type Fetcher, type FetchResult } from "../../runtime/net/index.js";
import { WireFault } from "../../runtime/transport/fault.js";
import { type Says, startAgent } from "../support/agent.js";
import { capabilities, release } from "./fixtures.js";

const ISSUER = "https://issuer.example/tenant";

interface World {
  /** What the token endpoint was asked, newest last. */
  readonly grants: Record<string, string>[];
  readonly clock: { ms: number };
  readonly tokens: Map<string, OAuthTokens | undefined>;
  /** Calls a tool; what came of it, and the tokens that reached the agent. */
  call(): Promise<{ readonly status: string; readonly said: string; readonly used: readonly (string | undefined)[] }>;
  good: string;
  /** Laid over the documents, by a part of their URL. */
  readonly documents: Record<string, JsonObject | undefined>;
  /** Statuses by which the token endpoint puts requests off, the next first. */
  readonly busy: number[];
}

type Made = Pick<World, "grants" | "documents" | "busy"> & { good: string };

/** The network with an issuer in it, which answers for itself and for the agent's metadata. */
function issuerBefore(guarded: Fetcher, resource: string, made: Made): Fetcher {
  const documents = (): Record<string, JsonObject | undefined> => ({
    "/.well-known/oauth-protected-resource/mcp": { resource: resource, authorization_servers: [ISSUER] },
    "/.well-known/oauth-authorization-server/tenant": {
      issuer: ISSUER,
      token_endpoint: `${ISSUER}/token`,
      authorization_endpoint: `${ISSUER}/authorize`,
      code_challenge_methods_supported: ["S256"],
    },
    ...made.documents,
  });
  const answer = (url: string, status: number, body: JsonObject): FetchResult => ({
    ...{ ok: true, url, status, headers: {}, truncated: false },
    body: new TextEncoder().encode(JSON.stringify(body)),
  });
  return async (url, request) => {
    const { pathname } = new URL(url);
    if (url === `${ISSUER}/token`) {
      const grant = Object.fromEntries(new URLSearchParams(String(request?.body)));
      made.grants.push({ ...grant, authorization: request?.headers?.authorization ?? "" });
      const busy = made.busy.shift();
      if (busy !== undefined) return { ...answer(url, busy, { error: "slow_down" }), headers: { "retry-after": "7" } };
      if (grant.refresh_token === "spent") return answer(url, 400, { error: "invalid_grant" });
      const n = made.grants.length;
      made.good = `token-${n}`;
      return answer(url, 200, {
        ...{ access_token: made.good, token_type: "Bearer", expires_in: 600 },
        ...(grant.grant_type !== "client_credentials" && { refresh_token: `refresh-${n}` }),
      });
    }
    if (pathname.startsWith("/.well-known/")) {
      const document = documents()[pathname];
      return document === undefined ? answer(url, 404, {}) : answer(url, 200, document);
    }
    return guarded(url, request);
  };
}

async function world(oauth: Partial<OAuthOptions>, job: (made: World) => Promise<void>): Promise<void> {
  const made = {
    grants: [] as Record<string, string>[],
    clock: { ms: 1_776_520_800_000 },
    good: "token-1",
    documents: {},
    busy: [],
  };
  const used: (string | undefined)[] = [];
  const agent = await startAgent({
    answer: ({ tool, headers }): Says => {
      const token = headers.authorization?.replace("Bearer ", "");
      if (tool === "get_agent_capabilities") return { payload: capabilities() };
      used.push(token);
      if (token !== made.good) return { http: 401, headers: { "www-authenticate": 'Bearer error="invalid_token"' } };
      return { payload: { status: "completed", products: [] } };
    },
  });
  const guarded = createGuardedFetch({ allowHttp: true, allowLoopback: true });
  const fetch = issuerBefore(guarded, agent.mcp, made);
  const tokens = new Map<string, OAuthTokens | undefined>();
  const store = {
    get: (key: string) => tokens.get(key),
    set: (key: string, to: OAuthTokens | undefined) => void tokens.set(key, to),
  };
  const buyer = createBuyer({
    ...{ release, agent: agent.mcp, allowLocal: true, fetch, now: () => made.clock.ms, retry: { attempts: 1 } },
    auth: { oauth: { clientId: "buyer", tokens: store, ...oauth } },
  });
  const call: World["call"] = async () => {
    used.length = 0;
    const called = await buyer.call("get_products", { buying_mode: "brief", brief: "b" });
    return { status: called.answer.status, said: JSON.stringify(called.answer.data), used: [...used] };
  };
  try {
    await job(Object.assign(made, { call, tokens }));
  } finally {
    await buyer.close();
    await agent.close();
    await guarded.close();
  }
}

test("a client speaks for itself: its token is got once, kept, and got anew before it ends or when it is refused", () =>
  world({ clientSecret: "s&cret", issuer: ISSUER, scope: "buy" }, async (made) => {
    assert.equal(await made.call(), {
      status: "completed",
      said: '{"status":"completed","products":[]}',
      used: ["token-1"],
    });
    const [first] = made.grants;
    assert.equal([first?.grant_type, first?.scope], ["client_credentials", "buy"]);
    assert.is(first?.authorization, `Basic ${Buffer.from("buyer:s%26cret").toString("base64")}`);
    assert.match(first?.resource ?? "", /\/mcp$/);
    await made.call();
    assert.is(made.grants.length, 1);
    made.clock.ms += 580_000;
    assert.equal((await made.call()).used, ["token-2"]);
    made.good = "withdrawn";
    const again = await made.call();
    assert.equal([again.status, again.used], ["completed", ["token-2", "token-3"]]);
  }));

test("a person is asked once, with PKCE; the tokens that are kept are renewed, and what came from elsewhere is refused", async () => {
  let asked: URL | undefined;
  const back =
    (more: Record<string, string> = {}) =>
    (url: string) => {
      asked = new URL(url);
      const state = asked.searchParams.get("state")!;
      return `http://127.0.0.1:9/back?${new URLSearchParams({ code: "code-1", state, iss: ISSUER, ...more })}`;
    };
  const person = { redirectUri: "http://127.0.0.1:9/back" };
  await world({ ...person, authorize: back() }, async (made) => {
    assert.is((await made.call()).status, "completed");
    assert.is(asked?.searchParams.get("code_challenge_method"), "S256");
    const [grant] = made.grants;
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(grant?.code_verifier));
    assert.is(asked?.searchParams.get("code_challenge"), Buffer.from(digest).toString("base64url"));
    assert.equal([grant?.grant_type, grant?.code, grant?.client_id], ["authorization_code", "code-1", "buyer"]);
    made.clock.ms += 600_000;
    await made.call();
    assert.equal([made.grants[1]?.grant_type, made.grants[1]?.refresh_token], ["refresh_token", "refresh-1"]);
    const [[key, kept]] = [...made.tokens] as [[string, OAuthTokens]];
    made.tokens.set(key, { ...kept, refreshToken: "spent", expiresAt: 0 });
    await made.call();
    assert.equal(
      made.grants.slice(2).map(({ grant_type }) => grant_type),
      ["refresh_token", "authorization_code"],
    );
  });
  for (const [more, said] of [
    [{ state: "other" }, /another request/],
    [{ iss: "https://evil.example" }, /evil\.example/],
  ] as const)
    await world({ ...person, authorize: back(more) }, async (made) => {
      const { status, said: why } = await made.call();
      assert.is(status, "failed");
      assert.match(why, said);
      assert.equal(made.grants, []);
    });
});

/** A person who comes back from the issuer once. */
function once() {
  let asked = 0;
  const authorize = (url: string): string => {
    asked += 1;
    const state = new URL(url).searchParams.get("state")!;
    return `http://127.0.0.1:9/back?${new URLSearchParams({ code: "code-1", state })}`;
  };
  return { oauth: { redirectUri: "http://127.0.0.1:9/back", authorize }, asked: () => asked };
}

test("a refresh token that another process has used sends nobody to the issuer: what that one got is taken", () => {
  const { oauth, asked } = once();
  return world(oauth, async (made) => {
    await made.call();
    const [[key, kept]] = [...made.tokens] as [[string, OAuthTokens]];
    made.tokens.set(key, { ...kept, refreshToken: "spent", expiresAt: 0 });
    const other = {
      accessToken: "of-the-other",
      issuer: ISSUER,
      refreshToken: "refresh-9",
      expiresAt: made.clock.ms + 600_000,
    };
    setTimeout(() => {
      made.good = other.accessToken;
      made.tokens.set(key, other);
    }, 100);
    assert.equal((await made.call()).used, ["of-the-other"]);
    assert.equal([asked(), made.tokens.get(key)], [1, other]);
  });
});

test("an issuer that puts a renewal off has refused nothing: nobody is asked, and the call never left", () => {
  const { oauth, asked } = once();
  return world(oauth, async (made) => {
    await made.call();
    for (const status of [429, 408, 503]) {
      made.clock.ms += 600_000;
      made.busy.push(status);
      const put = await made.call();
      assert.equal([put.status, put.used], ["failed", []]);
      assert.match(put.said, /"retry_after":7/);
      assert.is((await made.call()).status, "completed");
    }
    assert.is(asked(), 1);
    for (const unsent of [true, false])
      assert.is(missOf(new WireFault("no token", { retryable: true, unsent }), "proto").lost, !unsent);
  });
});

test("no token is asked for on the word of a stranger, and why is told", async () => {
  const metadata = "/.well-known/oauth-protected-resource/mcp";
  const server = "/.well-known/oauth-authorization-server/tenant";
  const cases: readonly [Record<string, JsonObject | undefined>, Partial<OAuthOptions>, RegExp][] = [
    [{ [metadata]: undefined }, {}, /publishes no metadata/],
    [
      { [metadata]: { resource: "https://other.example/mcp", authorization_servers: [ISSUER] } },
      {},
      /publishes no metadata/,
    ],
    [{ [server]: { issuer: "https://evil.example", token_endpoint: "https://evil.example/t" } }, {}, /evil\.example/],
    [{}, { issuer: "https://mine.example" }, /does not name https:\/\/mine\.example/],
  ];
  for (const [documents, more, said] of cases)
    await world({ clientSecret: "secret", issuer: ISSUER, ...more }, async (made) => {
      Object.assign(made.documents, documents);
      const { status, said: why } = await made.call();
      assert.is(status, "failed");
      assert.match(why, said);
      assert.equal(made.grants, []);
    });
});

test("a secret is shown to the issuer that is named only, and a refresh token to whom it came from", async () => {
  const fetch = createGuardedFetch();
  assert.throws(
    () =>
      createBuyer({
        ...{ release, agent: "https://a.example/mcp", fetch },
        auth: { oauth: { clientId: "buyer", clientSecret: "secret" } },
      }),
    (error: AdbindError) => error.code === "buyer_option_invalid" && error.where === "auth.oauth.issuer",
  );
  await fetch.close();
  const { oauth, asked } = once();
  await world(oauth, async (made) => {
    await made.call();
    const [[key, kept]] = [...made.tokens] as [[string, OAuthTokens]];
    // As a process that starts later finds them, once its agent names another.
    made.tokens.set(key, { ...kept, issuer: "https://first.example", expiresAt: 0 });
    assert.is((await made.call()).status, "completed");
    assert.equal(
      [asked(), made.grants.map(({ grant_type }) => grant_type)],
      [2, ["authorization_code", "authorization_code"]],
    );
  });
});

test("an agent of a config file has an OAuth client, whose secret is the environment's", () => {
  const oauth = { clientId: "c", clientSecretEnv: "S", issuer: ISSUER, scope: "buy" };
  const config = { agents: { acme: { url: "https://acme.example/mcp", oauth } } };
  const { acme } = agentsFrom(config, { S: "secret" });
  assert.equal(acme?.auth, {
    oauth: { clientId: "c", clientSecret: "secret", issuer: ISSUER, scope: "buy" },
  });
  const { issuer: _, ...anyIssuer } = oauth;
  assert.throws(
    () => agentsFrom({ agents: { acme: { url: "https://acme.example/mcp", oauth: anyIssuer } } }, { S: "secret" }),
    (error: Error) => /issuer/.test(error.message),
  );
  assert.throws(
    () => agentsFrom(config, {}),
    (error: Error) => /clientSecretEnv/.test(error.message),
  );
});

test.run();
