/** `adbind registry doctor`: a file on disk with its lines, the one at a domain, and a network of thousands. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type DoctorValues, lookOver } from "../../cli/registry-doctor.js";
import type { Fetcher } from "../../runtime/net/index.js";
import { openDoctor } from "../../runtime/registry/crawl/index.js";
import { linesOfPointers } from "../../runtime/registry/pointer-lines.js";

const doctor = suite("adbind registry doctor");
const folder = mkdtempSync(path.join(tmpdir(), "adbind-doctor-"));
doctor.after(() => rmSync(folder, { recursive: true, force: true }));

const AGENT = "https://seller.example/mcp";
const MANAGER = "manager-network.com";
const HERE = `https://${MANAGER}/.well-known/adagents.json`;

/** Origins by URL; anything else is 404. */
const originsOf =
  (pages: ReadonlyMap<string, string>): Fetcher =>
  async (url) => {
    const text = pages.get(url);
    if (text === "down") return { ok: false, code: "connect_failed", retryable: true, detail: "" };
    const status = text === undefined ? 404 : 200;
    return { ok: true, status, headers: {}, body: Buffer.from(text ?? ""), truncated: false, url };
  };

async function run(what: string, values: Partial<DoctorValues> = {}, pages: ReadonlyMap<string, string> = new Map()) {
  const opened = openDoctor({ fetch: originsOf(pages) });
  const { log } = console;
  const told: string[] = [];
  console.log = (line: string) => void told.push(line);
  try {
    const well = await lookOver(opened, what, { concurrency: 32, deadline: 60, ...values });
    return { well, told };
  } finally {
    console.log = log;
    await opened.close();
  }
}

const publisherProperties = (domain: string) => ({ publisher_domain: domain, selection_type: "all" });
const network = (domains: readonly string[]) => ({
  authorized_agents: [
    {
      url: AGENT,
      authorized_for: "All",
      authorization_type: "publisher_properties",
      publisher_properties: domains.map(publisherProperties),
    },
  ],
  revoked_publisher_domains: [{ publisher_domain: "revoked.com", revoked_at: "2026-01-01", reason: "other" }],
});

doctor("a file on disk: what is wrong, at which line, by which rule, and what to do", async () => {
  const file = path.join(folder, "adagents.json");
  const text = `{
  "authorized_agents": [
    { "url": "${AGENT}", "authorized_for": "All", "authorization_type": "property_ids", "property_ids": ["site"] },
    {
      "url": "http://other.example",
      "authorized_for": "All", "authorization_type": "property_ids", "property_ids": ["site"]
    }
  ],
  "properties": [
    { "property_id": "site", "property_type": "website", "name": "Site", "identifiers": [{ "type": "domain", "value": "news.com" }] }
  ]
}`;
  writeFileSync(file, text);
  const { well, told } = await run(file, { domain: "news.com" });
  assert.is(well, false);
  assert.match(told[0]!, /^news\.com {2}valid$/);
  assert.match(
    told.join("\n"),
    /left out \/authorized_agents\/1 \(line 4\): url is not an https URL \[agent_url\]; give/,
  );
  const json = JSON.parse((await run(file, { domain: "news.com", json: true })).told[0]!);
  assert.equal([json.verdict, json.problems[0].line, json.problems[0].rule], ["valid", 4, "agent_url"]);
  const good = path.join(folder, "good.json");
  writeFileSync(good, text.replace("http://other", "https://other"));
  assert.is((await run(good, { domain: "news.com" })).well, true);
  writeFileSync(good, `${text.slice(0, -1)}, }`);
  assert.match((await run(good, { domain: "news.com" })).told[0]!, /^news\.com {2}invalid: the file cannot be read/);
  await run(file).then(
    () => assert.unreachable(),
    (error) => assert.match(error.message, /whom the file is to speak for/),
  );
});

doctor("lines: of what is not there, what it would be in", () => {
  const lines = linesOfPointers('{\n "a": [\n  1,\n  {"b~c": 2}\n ]\n}', ["/a/1/b~0c", "/a/7", "/a", "", "/x/y"]);
  assert.equal([...lines.values()], [4, 2, 2, 1, 1]);
});

doctor("a domain: its own file, one it points to, none, and one that is down", async () => {
  const pages = new Map([
    [HERE, JSON.stringify(network(["pub.com"]))],
    ["https://pub.com/.well-known/adagents.json", JSON.stringify({ authoritative_location: HERE })],
    ["https://down.com/.well-known/adagents.json", "down"],
  ]);
  const first = async (what: string) => (await run(what, {}, pages)).told[0]!;
  assert.match(await first("PUB.com"), `pub.com  valid  ${HERE} (authoritative_location)`);
  assert.match(await first("none.com"), /^none\.com {2}absent: the origin answered with status 404/);
  assert.match(await first("down.com"), /^down\.com {2}unreachable: the origin could not be reached/);
});

doctor("a network of thousands: who is missing, points elsewhere, or here without being named", async () => {
  const linked = Array.from({ length: 5_000 }, (_, at) => `pub${at}.com`);
  const named = [...linked, "ads-txt.com", "own.com", "stale.com", "other-manager.com", "missing.com", "down.com"];
  const here = JSON.stringify({ authoritative_location: HERE });
  const at = (domain: string) => `https://${domain}/.well-known/adagents.json`;
  const pages = new Map([
    [HERE, JSON.stringify(network(named))],
    ...[...linked, "revoked.com", "orphan.com"].map((domain): [string, string] => [at(domain), here]),
    ["https://ads-txt.com/ads.txt", `managerdomain=${MANAGER}`],
    ["https://other-manager.com/ads.txt", "managerdomain=elsewhere.com"],
    [at("own.com"), JSON.stringify({ authorized_agents: [] })],
    [at("stale.com"), JSON.stringify({ authoritative_location: "https://elsewhere.com/file.json" })],
    [at("down.com"), "down"],
  ]);
  const others = path.join(folder, "others.txt");
  writeFileSync(others, "orphan.com\nnobody.com\n");
  const { well, told } = await run(MANAGER, { network: true, others, json: true }, pages);
  assert.is(well, false);
  const { publishers, network: looked } = JSON.parse(told[0]!);
  assert.is(publishers, 5_006);
  const counts = { linked: 5_001, own: 1, stale: 2, missing: 1, orphaned: 2, unreachable: 1, apart: 1, skipped: 0 };
  assert.equal(looked.counts, counts);
  assert.equal(
    looked.publishers.map(({ domain, status }: { domain: string; status: string }) => `${status} ${domain}`),
    [
      "own own.com",
      "stale stale.com",
      "stale other-manager.com",
      "missing missing.com",
      "unreachable down.com",
      "orphaned revoked.com",
      "orphaned orphan.com",
    ],
  );
  const good = new Map([...pages].filter(([, text]) => text !== "down"));
  good.set(HERE, JSON.stringify({ ...network(["pub1.com", "ads-txt.com"]), revoked_publisher_domains: [] }));
  const all = await run(MANAGER, { network: true }, good);
  assert.equal([all.well, all.told.at(-1)], [true, "  network: 2 linked"]);
});

doctor("publishers for whom there was no time are told as such", async () => {
  const opened = openDoctor({ fetch: originsOf(new Map([[HERE, JSON.stringify(network(["pub1.com"]))]])) });
  const { network: found } = await opened.atDomain(MANAGER);
  const links = await opened.links(found, { concurrency: 2, signal: AbortSignal.abort() });
  assert.equal(
    links.map(({ status }) => status),
    ["skipped", "skipped"],
  );
});

doctor("of an origin that cannot be reached it is said why, as which fault its certificate has", async () => {
  const detail = "expired.com: CERT_HAS_EXPIRED";
  const opened = openDoctor({ fetch: async () => ({ ok: false, code: "tls_failed", retryable: true, detail }) });
  const { verdict, error, network: none } = await opened.atDomain("expired.com");
  assert.equal([verdict, error], ["unreachable", `the origin could not be reached (tls_failed: ${detail})`]);
  const [link] = await opened.links({ ...none, publishers: ["expired.com"] }, { concurrency: 1 });
  assert.equal([link!.status, link!.detail], ["unreachable", error]);
});

doctor.run();
