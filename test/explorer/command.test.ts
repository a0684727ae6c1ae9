/** `adbind explorer` as its users call it: what it writes, what it leaves alone, and the server that watches. */
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createComparer } from "../../cli/explorer/comparer.js";
import { loadReleases } from "../../cli/explorer/load.js";
import { planExplorer } from "../../cli/explorer/plan.js";
import { serveExplorer } from "../../cli/explorer/serve.js";
import { servedSite } from "../../cli/explorer/served-site.js";
import { register } from "../../cli/explorer.js";
import { generate } from "../../generator/index.js";
import { commandFolder, runCommand } from "../cli/run-command.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { eventfulRelease, nextRelease } from "./fixture.js";

const { at, remove } = commandFolder();
const [older, newer] = [eventfulRelease(), nextRelease()];
const run = (...argv: string[]) => runCommand(register, argv);
test.after(remove);

test("writes a site, finds it unchanged, and writes it anew for another release", async () => {
  const first = await run(older, newer, "--out", "site", "--json");
  const told = JSON.parse(first.out) as { outcome: string; files: number; open: string };
  assert.equal([told.outcome, told.open], ["written", at("site/index.html")]);
  assert.match(first.err, "comparing 1.2.3 with 1.3.0");
  const again = JSON.parse((await run(newer, older, "--out", "site", "--json")).out) as typeof told;
  assert.equal([again.outcome, again.files], ["unchanged", told.files]);
  const alone = await run(newer, "--out", "site");
  assert.match(alone.out, /^1 release, \d+ files written/);
  assert.not(existsSync(at("site/proto/1.2.3")), "what is shown no more is gone");
  assert.not(existsSync(at("site/assets/live.js")), "nothing listens on a disk");
});

test("--compare neighbours and none leave comparisons out, and the page says so", async () => {
  await run(older, newer, "--out", "bare", "--compare", "none");
  assert.not(existsSync(at("bare/compare")));
  assert.match(readFileSync(at("bare/compare.html"), "utf8"), 'data-compared=""');
});

test("a folder of somebody else's files is left alone, a broken release is named, nothing given is a usage error", async () => {
  const foreign = tempFolder();
  writeFileSync(path.join(foreign, "mine.txt"), "mine");
  const refused = await run(newer, "--out", foreign);
  assert.equal([refused.code, existsSync(path.join(foreign, "index.html"))], [1, false]);
  assert.match(refused.err, "files adbind did not write: mine.txt");
  const broken = eventfulRelease((files) => {
    files["manifest.json"].tools = {};
  });
  assert.match((await run(broken, "--out", "never")).err, "the release breaks a rule");
  assert.is((await run()).code, 2);
});

test("bindings are no site to be replaced, and a port that is none is a usage error", async () => {
  const out = tempFolder();
  await generate([newer], { out });
  const refused = await run(newer, "--out", path.join(out, "1.3.0"), "--force");
  assert.equal([refused.code, existsSync(path.join(out, "1.3.0/errors.ts"))], [1, true]);
  assert.match(refused.err, "the folder holds bindings, of proto 1.3.0");
  const serving = await run("serve", newer, "--port", "70000");
  assert.is(serving.code, 2);
  assert.match(serving.err, "70000 is no port");
});

test("tools whose files are missing are left out, and named; a schema that is none is too", async () => {
  const partly = eventfulRelease((files) => {
    delete files["session/end-session-request.json"];
    files["core/wrong.json"] = { type: "nothing" };
  });
  const { releases } = await loadReleases([partly]);
  const site = planExplorer(releases, { compare: "none" });
  assert.match(site.get("proto/1.2.3/index.html")!(), "end_session");
  assert.not(site.has("proto/1.2.3/tools/end_session.html"));
  assert.match(site.get("proto/1.2.3/schemas/index.html")!(), /core\/wrong\.json<\/code>: .*not a JSON schema/);
});

/** A GET with a Host of one's own. */
const get = (url: string, host: string): Promise<{ status: number; body: string; type: string }> =>
  new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk;
      });
      const type = String(response.headers["content-type"]);
      response.on("end", () => resolve({ status: response.statusCode!, body, type }));
    })
      .on("error", reject)
      .end();
  });

test("serve: pages from memory, for this machine alone, made anew when a release changes or comes", async () => {
  const folder = tempFolder();
  cpSync(older, path.join(folder, "one"), { recursive: true });
  const lines: string[] = [];
  const order: string[] = [];
  const tell = (line: string): void => void lines.push(line);
  const comparer = createComparer(tell);
  const load = async () => (await loadReleases([folder], { lenient: true })).releases;
  const make = servedSite(comparer, { load });
  const server = await serveExplorer({ host: "127.0.0.1", port: 0, watched: [folder], make, tell });
  try {
    const home = await (await fetch(server.url)).text();
    assert.match(home, "proto 1.2.3");
    assert.match(home, "/assets/live.js");
    const { host } = new URL(server.url);
    assert.is((await get(server.url, host)).status, 200);
    assert.is((await get(server.url, "elsewhere.example")).status, 421);
    assert.is(
      (await fetch(`${server.url}proto/1.2.3/tools/place_order.json`)).headers.get("content-type"),
      "application/json; charset=utf-8",
    );
    assert.is((await fetch(`${server.url}..%2f..%2fetc/passwd`)).status, 404);
    assert.is((await fetch(server.url, { method: "POST" })).status, 405);
    const changes = (await fetch(`${server.url}changes`)).body!.getReader();
    await changes.read();
    cpSync(newer, path.join(folder, "two"), { recursive: true });
    await until(
      async () => (await (await fetch(server.url)).text()).includes("proto 1.3.0"),
      "the new release is served",
    );
    assert.match(new TextDecoder().decode((await changes.read()).value), "data: changed");
    const [compared, script] = ["json", "js"].map((ending) =>
      fetch(`${server.url}compare/proto@1.2.3...proto@1.3.0.${ending}`).then(async (got) => {
        order.push(ending);
        assert.is(got.status, 200);
        return got.text();
      }),
    );
    await fetch(`${server.url}proto/1.3.0/tools/place_order.html`);
    order.push("a page");
    assert.match(await compared!, '"rule":"code-added"');
    assert.match(await script!, /^adbindCompare\(/);
    assert.is(order[0], "a page", "pages are answered while two releases are compared");
    assert.is(lines.filter((line) => line === "comparing 1.2.3 with 1.3.0").length, 1);
    writeFileSync(path.join(folder, "two/manifest.json"), "{");
    await until(
      async () => !(await (await fetch(server.url)).text()).includes("proto 1.3.0"),
      "the broken one is gone",
    );
    assert.ok(lines.length > 0);
  } finally {
    await Promise.all([server.close(), comparer.close()]);
  }
});

test.run();
