/** Revocation lists with real signatures, and the whole chain under the real verifier. */
import { CompactSign, exportJWK, FlattenedSign, GeneralSign, generateKeyPair, type JWK } from "jose";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { FetchResult, GuardedRequest } from "../../runtime/net/index.js";
import { brandKeys, revocationBySender, revocationList } from "../../runtime/signing/discovery/index.js";
import {
  memoryReplayStore,
  signWebhook,
  staticKeys,
  verifyWebhook,
  verifyWebhookSync,
} from "../../runtime/signing/index.js";
import type { RevocationAnswer, RevocationSource } from "../../runtime/signing/types.js";

const LIST = "https://seller.example.com/revocations";
const ISSUER = "https://seller.example.com";
const AGENT = "https://agent.seller.example.com/mcp";
const START = 1_776_520_800;
const MINUTE = 60;

interface Pair {
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}

const pair = async (alg: "EdDSA" | "ES256", kid: string, use: string): Promise<Pair> => {
  const keys = await generateKeyPair(alg, { extractable: true, ...(alg === "EdDSA" && { crv: "Ed25519" }) });
  const members = { kid, alg, use: "sig", key_ops: ["verify"], proto_use: use };
  return {
    publicJwk: { ...(await exportJWK(keys.publicKey)), ...members },
    privateJwk: { ...(await exportJWK(keys.privateKey)), kid, alg },
  };
};

const governance = await pair("EdDSA", "gov", "governance-signing");
const elliptic = await pair("ES256", "gov-es", "governance-signing");
const webhook = await pair("EdDSA", "hook", "request-signing");
const stranger = await pair("EdDSA", "gov", "governance-signing");
const keys = staticKeys([governance.publicJwk, elliptic.publicJwk, webhook.publicJwk] as never, { sender: AGENT });

interface ListContent {
  updated?: number;
  next?: number;
  kids?: unknown;
  issuer?: string;
  version?: number;
}

const iso = (at: number) => new Date(at * 1000).toISOString();
const payloadOf = (content: ListContent): Uint8Array => {
  const { updated = START, next = START + 10 * MINUTE, kids = ["dead"], issuer = ISSUER, version = 1 } = content;
  const list = { version, issuer, updated: iso(updated), next_update: iso(next), revoked_jtis: [], revoked_kids: kids };
  return new TextEncoder().encode(JSON.stringify(list));
};
const header = (signer: Pair, typ = "proto-gov-revocation+jws") =>
  ({ alg: signer.privateJwk.alg as string, kid: signer.privateJwk.kid as string, typ }) as const;
const compact = (content: ListContent = {}, signer = governance, typ?: string): Promise<string> =>
  new CompactSign(payloadOf(content)).setProtectedHeader(header(signer, typ)).sign(signer.privateJwk);

function origin(first: string | number) {
  const state = { page: first, at: START, etag: undefined as string | undefined, requests: [] as GuardedRequest[] };
  const fetch = async (url: string, request: GuardedRequest = {}): Promise<FetchResult> => {
    state.requests.push(request);
    await Promise.resolve();
    const headers: Record<string, string> = state.etag === undefined ? {} : { etag: state.etag };
    const seen = request.headers?.["if-none-match"];
    const status = typeof state.page === "number" ? state.page : seen !== undefined && seen === state.etag ? 304 : 200;
    const body = new TextEncoder().encode(status === 200 ? String(state.page) : "");
    return { ok: true, status, headers, body, truncated: false, url };
  };
  const source = (extra: object = {}) => revocationList({ url: LIST, keys, fetch, now: () => state.at, ...extra });
  return { state, source };
}

const settled = () => new Promise(setImmediate);

const list = suite("revocation list");

list("a listed kid is revoked, another good, without waiting while the list is current", async () => {
  const { state, source } = origin(await compact());
  const revocation = source();
  assert.is(await revocation.check("dead", AGENT, state.at), "revoked");
  assert.is(revocation.check("alive", AGENT, state.at), "good");
  assert.is(revocation.check("dead", AGENT, state.at), "revoked");
  assert.is(state.requests.length, 1);
});

list("every JWS serialisation, both algorithms", async () => {
  const sign = (signer: Pair) => ({
    flattened: new FlattenedSign(payloadOf({})).setProtectedHeader(header(signer)).sign(signer.privateJwk),
    general: new GeneralSign(payloadOf({})).addSignature(signer.privateJwk).setProtectedHeader(header(signer)).sign(),
  });
  for (const signer of [governance, elliptic]) {
    const { flattened, general } = sign(signer);
    const pages = [JSON.stringify(await flattened), JSON.stringify(await general), await compact({}, signer)];
    for (const page of pages) {
      const { state, source } = origin(page);
      assert.is(await source().check("dead", AGENT, state.at), "revoked");
    }
  }
});

list("a list that does not verify is no list", async () => {
  const good = await compact();
  const [head, , signature] = good.split(".");
  const forged = [head, Buffer.from(payloadOf({ kids: [] })).toString("base64url"), signature].join(".");
  const pages: (string | number)[] = [
    forged,
    await compact({}, stranger),
    await compact({}, webhook),
    await compact({}, governance, "JWT"),
    await compact({}, governance, "other-gov-revocation+jws"),
    await compact({ issuer: "https://other.example.com" }),
    await compact({ version: 2 }),
    await compact({ kids: "dead" }),
    await compact({ kids: [1] }),
    await compact({ next: START - 1 }),
    `${Buffer.from('{"alg":"none","typ":"proto-gov-revocation+jws","kid":"gov"}').toString("base64url")}.e30.`,
    "{}",
    "not a jws",
    404,
    503,
  ];
  for (const page of pages) {
    const { state, source } = origin(page);
    assert.is(await source().check("alive", AGENT, state.at), "unavailable", String(page).slice(0, 40));
  }
});

list("a key for webhooks signs lists only where that is configured", async () => {
  const { state, source } = origin(await compact({}, webhook));
  assert.is(await source({ keyUses: ["request-signing"] }).check("dead", AGENT, state.at), "revoked");
});

list("the word names the type and the purpose", async () => {
  const acme = { ...governance.publicJwk, proto_use: undefined, acme_use: "governance-signing" };
  const { state, source } = origin(await compact({}, governance, "acme-gov-revocation+jws"));
  const options = { word: "acme", keys: staticKeys([acme] as never, { sender: AGENT }) };
  assert.is(await source(options).check("dead", AGENT, state.at), "revoked");
});

list("polled at the list's pace, with a floor, a ceiling and a conditional request", async () => {
  for (const [announced, interval] of [
    [1, 60],
    [600, 600],
    [86_400, 1800],
  ] as const) {
    const { state, source } = origin(await compact({ next: START + announced }));
    state.etag = '"v1"';
    const revocation = source();
    await revocation.check("alive", AGENT, state.at);
    state.at = START + interval * 0.8 - 1;
    await revocation.check("alive", AGENT, state.at);
    assert.is(state.requests.length, 1);
    state.at = START + interval * 0.8;
    await revocation.check("alive", AGENT, state.at);
    assert.is(state.requests.length, 2);
    assert.is(state.requests[1]?.headers?.["if-none-match"], '"v1"');
    await settled();
  }
});

list("an idle receiver asks before it answers", async () => {
  const { state, source } = origin(await compact({ kids: [] }));
  const revocation = source();
  assert.is(await revocation.check("dead", AGENT, state.at), "good");
  state.at += 11 * MINUTE;
  state.page = await compact({ updated: state.at, next: state.at + 600 });
  assert.is(await revocation.check("dead", AGENT, state.at), "revoked");
});

list("an outage is survived until four intervals after next_update, then every kid is stale", async () => {
  for (const [announced, graceMinutes] of [
    [MINUTE, 5],
    [30 * MINUTE, 150],
  ] as const) {
    const { state, source } = origin(await compact({ next: START + announced }));
    const revocation = source();
    await revocation.check("alive", AGENT, state.at);
    state.page = 503;
    const answers: RevocationAnswer[] = [];
    for (const at of [graceMinutes * MINUTE - 30, graceMinutes * MINUTE, graceMinutes * MINUTE + 1]) {
      state.at = START + at;
      answers.push(await revocation.check("alive", AGENT, state.at));
      await settled();
    }
    assert.equal(answers, ["good", "good", "stale"], `${graceMinutes} minutes`);
    assert.is(await revocation.check("dead", AGENT, state.at), "revoked");
    state.page = await compact({ updated: state.at, next: state.at + 600 });
    state.at += 61;
    assert.is(await revocation.check("alive", AGENT, state.at), "good", "and it recovers");
  }
});

list("an origin that goes on serving an old list does not keep it alive", async () => {
  const { state, source } = origin(await compact({ next: START + MINUTE }));
  state.etag = '"v1"';
  const revocation = source();
  for (let minute = 0; minute < 10; minute += 1) {
    state.at = START + minute * MINUTE;
    await revocation.check("alive", AGENT, state.at);
    await settled();
  }
  assert.is(await revocation.check("alive", AGENT, state.at), "stale");
});

list("an older list does not bring a revoked key back", async () => {
  const { state, source } = origin(await compact());
  const revocation = source();
  await revocation.check("dead", AGENT, state.at);
  state.page = await compact({ updated: START - MINUTE, next: START + 600, kids: [] });
  state.at += 11 * MINUTE;
  assert.is(await revocation.check("dead", AGENT, state.at), "revoked");
});

list("by sender: a kid is revoked for its own issuer only", async () => {
  const revoked: RevocationSource = { check: (kid) => (kid === "dead" ? "revoked" : "good") };
  const bySender = revocationBySender({ [AGENT]: revoked });
  assert.is(bySender.check("dead", AGENT, START), "revoked");
  assert.is(bySender.check("dead", "https://other.example", START), "unavailable");
  assert.is(bySender.check("dead", "toString", START), "unavailable");
  assert.is(
    revocationBySender(new Map([[AGENT, revoked]]), "good").check("dead", "https://other.example", START),
    "good",
  );
});

list("by sender: a list that answers something undeclared has not answered, whatever a sender without one gets", () => {
  for (const answer of [undefined, null]) {
    const broken = { check: () => answer } as unknown as RevocationSource;
    assert.is(revocationBySender({ [AGENT]: broken }, "good").check("dead", AGENT, START), answer);
  }
});

list.run();

const whole = suite("the chain under the verifier");

whole("brand file, key set and list, from the first webhook to a revocation", async () => {
  const pages: Record<string, string | number> = {
    "https://example.com/.well-known/brand.json": JSON.stringify({ agents: [{ type: "sales", id: "a", url: AGENT }] }),
    "https://agent.seller.example.com/.well-known/jwks.json": JSON.stringify({ keys: [webhook.publicJwk] }),
    [LIST]: await compact({ kids: [], next: START + MINUTE }),
  };
  const clock = { at: START };
  const requests: string[] = [];
  const fetch = async (url: string): Promise<FetchResult> => {
    requests.push(url);
    const page = pages[url] ?? 404;
    const status = typeof page === "number" ? page : 200;
    return { ok: true, status, headers: {}, body: new TextEncoder().encode(String(page)), truncated: false, url };
  };
  const options = {
    keys: brandKeys({ agentUrl: AGENT, fetch, now: () => clock.at }),
    revocation: revocationList({ url: LIST, keys, fetch, now: () => clock.at }),
    replay: memoryReplayStore(),
    now: () => clock.at,
  };
  const url = "https://buyer.example.net/hook";
  const deliver = async (signer: Pair) => {
    const body = new TextEncoder().encode('{"idempotency_key":"k"}');
    const unsigned = { method: "POST", url, headers: { "content-type": "application/json" }, body };
    const { headers } = await signWebhook(unsigned, {
      key: signer.privateJwk,
      keyid: signer.privateJwk.kid as string,
      now: () => clock.at,
    });
    return { ...unsigned, headers: { ...headers } };
  };
  const first = await verifyWebhook(await deliver(webhook), options);
  assert.equal(first.ok && [first.sender, first.keyid], [AGENT, "hook"]);
  assert.is(verifyWebhookSync(await deliver(webhook), options).ok, true, "everything is at hand by now");
  assert.is(requests.length, 3);

  const unknown = await verifyWebhook(await deliver(governance), options);
  assert.is(!unknown.ok && unknown.code, "webhook_signature_key_unknown");

  pages[LIST] = await compact({ kids: ["hook"], updated: START + 61, next: START + 200 });
  clock.at += 61;
  const revoked = await verifyWebhook(await deliver(webhook), options);
  assert.is(!revoked.ok && revoked.code, "webhook_signature_key_revoked");

  pages["https://example.com/.well-known/brand.json"] = 503;
  clock.at += 3600;
  const outage = await verifyWebhook(await deliver(webhook), options);
  assert.equal(!outage.ok && [outage.code, outage.status, outage.retryable], ["keys_unavailable", 503, true]);
});

whole.run();
