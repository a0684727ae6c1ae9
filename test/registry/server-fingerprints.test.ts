/** Every open read of the API document has a fingerprint, says how long it may be kept, and is not sent twice. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createProber } from "../../runtime/registry/probe/prober.js";
import { type Operation, readApiDocument } from "../../runtime/registry/server/document.js";
import { lookup, origins, pages } from "./server-crawl-fixture.js";
import { BASE_URL, bearer, type Setup, setupRegistry } from "./server-fixture.js";
import { HOSTED, NEWS, SELLER, seedWorld } from "./server-world.js";

const reads = suite("fingerprints of a registry's reads");

let setup: Setup;
let key: string;
/** What an operation is asked with, where the document's examples are not there. */
let asked: Readonly<Record<string, string>>;
let given: Readonly<Record<string, Readonly<Record<string, string>>>>;
reads.before(async () => {
  setup = await setupRegistry({ embeddedIssuer: true, crawling: "queue", crawl: { fetch: origins(pages), lookup } });
  const { id } = await setup.accounts.addOrganization({ name: "Reader", tier: "company_standard" });
  key = (await setup.accounts.addKey(id, "tests")).key;
  await seedWorld(setup.registry.data, id);
  const { database } = setup.store;
  const now = () => setup.clock.ms;
  await createProber({ store: database, fetch: origins(pages), publicUrl: BASE_URL, log: undefined, now }).look();
  const made = await post("/api/registry/crawl-request", { domain: "waiting.example" });
  asked = { ...values, crawl_request_id: made.crawl_request_id };
  const domains = await post("/api/properties/check", { domains: [NEWS] });
  const identifiers = await post("/api/properties/check/bulk", { identifiers: [NEWS] });
  given = {
    readHostedAdagents: { domain: HOSTED },
    lookupOperator: { domain: "seller.example" },
    readPropertyCheck: { report_id: domains.report_id },
    readIdentifierCheck: { report_id: identifiers.report_id },
  };
});
reads.after(() => setup.close());

const values = {
  domain: NEWS,
  agent: SELLER,
  agent_url: SELLER,
  url: SELLER,
  type: "bundle_id",
  value: `app.${NEWS}`,
  identifier_type: "bundle_id",
  identifier_value: `app.${NEWS}`,
  q: "brand",
  version: "3.1.0",
  path: "core/error.json",
};

const post = async (url: string, payload: object) => {
  const answer = await setup.registry.app.inject({ method: "POST", url, payload, headers: bearer(key) });
  assert.ok(answer.statusCode < 300, answer.body);
  return answer.json();
};

/** A stream is followed, and what the machinery asks is what is so now. */
const isOpenRead = ({ method, tag, responses }: Operation): boolean =>
  method === "GET" && tag !== "operations" && responses["200"]?.content?.["text/event-stream"] === undefined;

function addressOf({ id, path, parameters }: Operation): string {
  const own = { ...asked, ...given[id] };
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === "path" ? own[name]! : encodeURIComponent(own[name]!),
  );
  const query = parameters.filter((one) => one.in === "query" && one.required);
  return `${place}?${new URLSearchParams(Object.fromEntries(query.map(({ name }) => [name, own[name]!])))}`;
}

for (const operation of readApiDocument().operations.filter(isOpenRead)) {
  const { id, credentials, responses } = operation;

  reads(`${id}: the same copy is not sent twice`, async () => {
    for (const status of ["200", "304"])
      for (const header of ["ETag", "Cache-Control"])
        assert.ok(responses[status]?.headers?.[header], `${id}: the document has no ${header} at ${status}`);
    const url = addressOf(operation);
    const get = (headers: object = {}) =>
      setup.registry.app.inject({ url, headers: { ...(credentials === "required" && bearer(key)), ...headers } });
    const first = await get();
    assert.is(first.statusCode, 200, `${url}: ${first.body}`);
    const { etag, "cache-control": cached } = first.headers;
    assert.match(String(etag), /^(?:W\/)?"[\w-]+"$/, url);
    assert.match(String(cached), credentials === "none" ? /max-age=[1-9]|^no-cache$/ : /^private, no-cache$/, url);
    setup.clock.ms += 1_000;
    for (const header of [String(etag), `"x", ${etag}`, "*"]) {
      const again = await get({ "if-none-match": header });
      assert.equal(
        [again.statusCode, again.body, again.headers.etag, again.headers["cache-control"]],
        [304, "", etag, cached],
        url,
      );
    }
    const other = await get({ "if-none-match": '"other"' });
    assert.equal([other.statusCode, other.headers.etag], [200, etag], url);
  });
}

reads("what the machinery asks is kept by nobody", async () => {
  for (const { path } of readApiDocument().operations.filter(({ tag }) => tag === "operations")) {
    const { headers } = await setup.registry.app.inject({ url: path });
    assert.is(headers["cache-control"], "no-store", path);
  }
});

reads.run();
