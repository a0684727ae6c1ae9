/** Two releases that sign requests in two ways: which URL verifies which, what is declared there, and what is never run. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { JsonObject, Release } from "../../runtime/contract/index.js";
import type { Fetcher } from "../../runtime/net/index.js";
import { createSeller, openAuth, type Seller, tokenAuth } from "../../runtime/seller/index.js";
import { signRequestSync, staticKeys } from "../../runtime/signing/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { createValidator } from "../../runtime/validate/index.js";
import { makeKey } from "../signing/fixtures.js";
import { corpus } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";
import { wholeRelease } from "../support/whole-release.js";

const test = suite("endpoints of a seller");
const there = existsSync(path.join(corpus, "releases/3.2.4"));
const load = async (version: string): Promise<Release> => (await wholeRelease(version)).release;
const releases = there ? [await load("3.2.4"), await load("3.1.19")] : [];
const WORD = "adcp";
/** Compiled once for all sellers of this file. */
const validators = new Map(await Promise.all(releases.map(async (one) => [one, await createValidator(one)] as const)));
const key = makeKey("ed25519", { adcp_use: "request-signing" });
const keys = staticKeys([key.jwk], { sender: "https://buyer.example/agent" });

interface Opened {
  readonly seller: Seller;
  /** Tools that ran. */
  readonly ran: string[];
}

async function opened(options: object, use: (at: Opened) => Promise<void>): Promise<void> {
  const store = openSqliteStore({ path: path.join(tempFolder(), "seller.db") });
  const ran: string[] = [];
  const handler = (name: string) => async (_request: unknown, ctx: { fail(error: object): unknown }) => {
    ran.push(name);
    return ctx.fail({ code: "PRODUCT_UNAVAILABLE", message: "none left" });
  };
  const seller = await createSeller({
    ...{ release: releases[0], releases: releases.slice(1), specialisms: [], store, name: "Two eras" },
    validator: (release: Release) => validators.get(release),
    ...{ baseUrl: "https://seller.example.com", limits: { calls: false } },
    tools: { get_products: handler("get_products"), create_media_buy: handler("create_media_buy") },
    ...options,
  } as never);
  try {
    await use({ seller: seller as Seller, ran });
  } finally {
    await seller.close();
    await store.close();
  }
}

const callBody = (name: string, args: JsonObject = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });

async function send(seller: Seller, url: string, payload: string, headers: Record<string, string> = {}) {
  const response = await seller.app.inject({
    ...{ method: "POST", url, payload },
    headers: {
      ...{
        host: "seller.example.com",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      ...headers,
    },
  });
  // A streaming method's first event is its answer.
  const [text = ""] = response.body.replace(/^data: /, "").split("\n\n");
  const challenge = response.headers["www-authenticate"];
  // biome-ignore lint/suspicious/noExplicitAny: answers of every kind
  return { status: response.statusCode, challenge, body: JSON.parse(text) as any };
}

/** Signed for a URL as a release line signs. */
function signed(url: string, payload: string, profile: "3.1" | "3.2"): Record<string, string> {
  const request = { method: "POST", url: `https://seller.example.com${url}`, headers: {}, body: Buffer.from(payload) };
  const { headers } = signRequestSync(request, { key: key.privateKey, keyid: key.jwk.kid!, word: WORD, profile });
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** A buyer's HTTP, straight into the seller. */
const injected =
  (seller: Seller): Fetcher =>
  async (url, request = {}) => {
    const { pathname } = new URL(url);
    const response = await seller.app.inject({
      ...{ method: (request.method ?? "GET") as "POST", url: pathname },
      headers: { host: "seller.example.com", ...request.headers },
      ...(request.body !== undefined && { payload: Buffer.from(request.body) }),
    });
    const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
    return { ok: true, status: response.statusCode, headers, body: response.rawPayload, url } as never;
  };

const capabilities = async (seller: Seller, url: string): Promise<JsonObject> =>
  (await send(seller, url, callBody("get_adcp_capabilities"))).body.result.structuredContent;

if (!there) test("endpoints are skipped where there is no corpus", () => console.log("skipped: there is no corpus"));
else {
  test("a URL verifies the profile of the releases it declares, whatever a request pins", async () => {
    await opened({ requestSigning: { keys } }, async ({ seller }) => {
      const pinned = callBody("get_adcp_capabilities", { adcp_version: "3.1" });
      for (const payload of [callBody("get_adcp_capabilities"), pinned]) {
        const newer = await send(seller, "/mcp", payload, signed("/mcp", payload, "3.2"));
        assert.is(newer.status, 200, JSON.stringify(newer.body));
        const older = await send(seller, "/mcp", payload, signed("/mcp", payload, "3.1"));
        assert.is(older.challenge, 'Signature error="request_signature_header_malformed"');
        for (const profile of ["3.1", "3.2"] as const) {
          const legacy = await send(seller, "/legacy/mcp", payload, signed("/legacy/mcp", payload, profile));
          assert.is(legacy.status, 200, profile);
        }
      }
    });
  });

  test("each URL declares its own releases; the default requestSigning starts under 3.2", async () => {
    await opened(
      { requestSigning: { keys }, signing: { key: { ...privateJwk(), kid: "s1" }, keyid: "s1" } },
      async ({ seller }) => {
        const all = await capabilities(seller, "/mcp");
        const older = await capabilities(seller, "/legacy/mcp");
        const said = (declared: JsonObject) => [
          (declared.adcp as JsonObject).supported_versions,
          (declared.request_signing as JsonObject).covers_content_digest,
        ];
        assert.equal(said(all), [["3.2", "3.1"], "required"]);
        assert.equal(said(older), [["3.1"], "either"]);
        const unsupported = await send(seller, "/legacy/mcp", callBody("get_products", { adcp_version: "3.0" }));
        assert.is(unsupported.body.result.structuredContent.adcp_error.code, "VERSION_UNSUPPORTED");
        const brand = (await seller.app.inject("/.well-known/brand.json")).json() as { agents: { url: string }[] };
        const urls = brand.agents.map(({ url }) => url.replace("https://seller.example.com", ""));
        assert.equal(urls, ["/mcp", "/a2a", "/legacy/mcp", "/legacy/a2a"]);
        for (const at of ["/a2a", "/legacy/a2a"]) {
          const card = (await seller.app.inject(`${at}/.well-known/agent-card.json`)).json() as { url: string };
          assert.is(card.url, `https://seller.example.com${at}`);
        }
      },
    );
  });

  test("a seller of one release has one endpoint", async () => {
    for (const release of releases) {
      await opened({ release, releases: [], requestSigning: { keys } }, async ({ seller }) => {
        assert.is((await seller.app.inject({ method: "POST", url: "/legacy/mcp", payload: {} })).statusCode, 404);
        const payload = callBody("get_adcp_capabilities");
        const older = await send(seller, "/mcp", payload, signed("/mcp", payload, "3.1"));
        assert.is(older.status, release.version === "3.2.4" ? 401 : 200);
      });
    }
  });

  test("another credential stands in for a signature under 3.2, unless the seller is strict or anybody may come in", async () => {
    const requestSigning = { keys, required_for: ["create_media_buy"] };
    const auth = tokenAuth({ tokens: { "key-of-buyer-1": "buyer-1" } });
    const payload = callBody("create_media_buy", {});
    const status = (seller: Seller, url: string, bearer?: string) =>
      send(seller, url, payload, bearer === undefined ? {} : { authorization: `Bearer ${bearer}` });
    await opened({ requestSigning, auth }, async ({ seller }) => {
      assert.is((await status(seller, "/mcp", "key-of-buyer-1")).status, 200);
      const required = 'Signature error="request_signature_required"';
      assert.is((await status(seller, "/mcp", "nonsense")).challenge, required);
      assert.is((await status(seller, "/mcp")).challenge, required);
      assert.is((await status(seller, "/legacy/mcp", "key-of-buyer-1")).challenge, required);
    });
    for (const more of [{ requestSigning }, { requestSigning: { ...requestSigning, strict: true }, auth }])
      await opened(more, async ({ seller }) => assert.is((await status(seller, "/mcp", "key-of-buyer-1")).status, 401));
  });

  test("in production nobody who is unknown orders where callers are known by signatures alone, and a stray token is no credential", async () => {
    const payload = callBody("create_media_buy", {});
    const stray = { authorization: "Bearer nonsense" };
    await opened({ requestSigning: { keys }, mode: "production" }, async ({ seller }) => {
      for (const headers of [{}, stray]) assert.is((await send(seller, "/mcp", payload, headers)).status, 401);
      assert.is((await send(seller, "/mcp", payload, signed("/mcp", payload, "3.2"))).status, 200);
      assert.is((await send(seller, "/mcp", callBody("get_adcp_capabilities"))).status, 200);
    });
    const requestSigning = { keys, required_for: ["create_media_buy"] };
    await opened({ requestSigning, auth: openAuth }, async ({ seller }) =>
      assert.is((await send(seller, "/mcp", payload, stray)).status, 401),
    );
  });

  test("a signature that only warns leaves the call to another credential, never to nobody", async () => {
    const requestSigning = { keys, supported_for: ["get_products"], warn_for: ["get_products"] };
    const auth = tokenAuth({ tokens: { "key-of-buyer-1": "buyer-1" } });
    const payload = callBody("get_products");
    const bad = { ...signed("/mcp", callBody("get_products", { other: 1 }), "3.2") };
    const bearer = { authorization: "Bearer key-of-buyer-1" };
    await opened({ requestSigning, auth }, async ({ seller }) => {
      assert.is((await send(seller, "/mcp", payload, { ...bad, ...bearer })).status, 200);
      assert.is((await send(seller, "/mcp", payload, bad)).status, 401);
      const half = { signature: bad.signature!, ...bearer };
      assert.is((await send(seller, "/mcp", payload, half)).status, 401, "half a pair of fields");
    });
    await opened({ requestSigning }, async ({ seller }) =>
      assert.is((await send(seller, "/mcp", payload, bad)).status, 401),
    );
  });

  test("a published A2A body that comes to no one operation is never run, signatures asked for or not", async () => {
    const folder = path.join(corpus, "compliance/3.2.4/test-vectors/request-signing/a2a");
    const vectors = ["negative", "positive"].flatMap((kind) =>
      readdirSync(path.join(folder, kind)).map((name) =>
        JSON.parse(readFileSync(path.join(folder, kind, name), "utf8")),
      ),
    );
    const dispatched = vectors.filter(
      ({ expected_outcome: to }) => to.status !== undefined && to.dispatch === undefined,
    );
    for (const more of [{ auth: openAuth }, { requestSigning: { keys, required_for: ["create_media_buy"] } }]) {
      await opened(more, async ({ seller, ran }) => {
        for (const { name, request, expected_outcome: expected } of vectors) {
          const headers = Object.fromEntries(
            Object.entries(request.headers as Record<string, string>).filter(([field]) => /^a2a-/i.test(field)),
          );
          const before = ran.length;
          const { status } = await send(seller, "/a2a", request.body, headers);
          const refused = expected.error_code === "request_body_malformed" || expected.dispatch !== undefined;
          if (refused) assert.is(ran.length, before, `${name}: ran`);
          if ("requestSigning" in more && expected.error_code === "request_body_malformed")
            assert.ok(status === 401 || status === 400, `${name}: ${status}`);
        }
      });
    }
    assert.ok(dispatched.length > 0);
  });

  test("a buyer signs as the URL it calls verifies, by what is declared there", async () => {
    const requestSigning = { keys, required_for: ["get_products"] };
    const [newest, older] = releases as [Release, Release];
    await opened({ requestSigning }, async ({ seller, ran }) => {
      const told = async (own: Release[], url: string, signing?: object) => {
        const buyer = createBuyer({
          ...{
            release: own[0]!,
            releases: own.slice(1),
            agent: { url: `https://seller.example.com${url}`, transport: "mcp" },
          },
          ...{
            fetch: injected(seller),
            validator: (release: Release) => validators.get(release)!,
            retry: { attempts: 1 },
          },
          ...(signing && { signing }),
        } as never);
        const before = ran.length;
        // biome-ignore lint/suspicious/noExplicitAny: answers of every kind
        const { answer } = (await (buyer.tools as any).get_products({ buying_mode: "brief", brief: "b" })) as any;
        await buyer.close();
        return ran.length > before ? "ran" : answer.data.errors[0];
      };
      const signing = { key: key.privateKey, keyid: key.jwk.kid };
      for (const own of [[newest], [newest, older], [older]]) assert.is(await told(own, "/mcp", signing), "ran");
      assert.is(await told([newest, older], "/legacy/mcp", signing), "ran");
      // What the verifier says is told, with the class the release gives it.
      const refused = await told([newest], "/mcp");
      assert.is(refused.details.signature_error, "request_signature_required");
      assert.is(
        refused.recovery,
        newest.facts.recovery.codes["request-signing-error-code"]!.value.request_signature_required,
      );
    });
  });

  test("over plain http a seller has no identity to publish, and works", async () => {
    const signing = { key: { ...privateJwk(), kid: "s1" }, keyid: "s1" };
    await opened({ baseUrl: "http://localhost:8080", mode: "development", signing }, async ({ seller }) => {
      assert.is((await capabilities(seller, "/mcp")).identity, undefined);
    });
  });

  test("a declaration that contradicts itself is refused at the start", async () => {
    for (const lists of [
      { warn_for: ["get_products"], required_for: ["get_products"] },
      { supported_for: [], required_for: ["get_products"] },
      { protocol_methods_required_for: ["tools/call"] },
    ]) {
      let said = "";
      await opened({ requestSigning: { keys, ...lists } }, async () => undefined).catch((error: { code: string }) => {
        said = error.code;
      });
      assert.is(said, "seller_option_invalid");
    }
  });
}

const privateJwk = (): JsonObject => key.privateKey.export({ format: "jwk" }) as JsonObject;

test.run();
