/** The operators' pages: in a browser, without a script and by keyboard; and against those who would use an operator's. */
import { mkdtempSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import axeCore from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { register as outbox } from "../../cli/outbox.js";
import { createOutboxServer } from "../../cli/outbox-server.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { FakeNetwork, NOW, optionsFor } from "../sender/fixture.js";
import { push, start } from "../sender/sender-suite.js";
import { startBrowser } from "../support/browser.js";
import { until } from "../support/until.js";
import { commandFolder, runCommand } from "./run-command.js";

const HOSTILE = `<script>document.title='owned'</script><img src=x onerror="document.title='owned'">"'><form action=//evil>`;
const TOKEN = "a-token-of-some-length-0123456789";

const pages = suite("outbox serve");
const { at, remove } = commandFolder();
const shots = mkdtempSync(path.join(tmpdir(), "adbind-outbox-pages-"));
const clock = { at: NOW };
const network = new FakeNetwork(clock);
let store: SqliteStore;
let sender: Sender;
let open: Server;
let locked: Server;
let browser: Browser | undefined;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const urlOf = (server: Server): string => `http://127.0.0.1:${portOf(server)}`;
const listening = (server: Server) =>
  new Promise<Server>((resolve) => void server.listen(0, "127.0.0.1", () => resolve(server)));

pages.before(async () => {
  store = openSqliteStore({ path: at("outbox.db") });
  sender = await createSender({ ...optionsFor(clock, network), store });
  network.react = ({ url }) =>
    url.includes("dead") ? { status: 500, body: Buffer.from(HOSTILE.repeat(5)), truncated: false } : 410;
  const tell = async (taskId: string, url: string, principal: string) => {
    await sender.tasks.register(start({ taskId, principal }), { push: { ...push, url } });
    await sender.tasks.update(taskId, { status: "working" });
  };
  for (let task = 0; task < 8; task++) await tell(`task-${task}`, "https://gone.example/hooks/a", "acme");
  await tell("dead", `https://dead.example/${"long-path-segment/".repeat(12)}`, "<b>initech</b>");
  sender.start();
  await until(async () =>
    (await sender.outbox.list()).some(({ subject, attempts }) => subject === "dead" && attempts > 0),
  );
  await until(async () => (await sender.outbox.endpoints()).some(({ state }) => state === "resting"));
  const hosts = () => [`127.0.0.1:${portOf(open)}`];
  open = await listening(createOutboxServer({ outbox: sender.outbox, hosts }));
  locked = await listening(createOutboxServer({ outbox: sender.outbox, token: TOKEN }));
  browser = await startBrowser();
});
pages.after(async () => {
  await browser?.close();
  for (const server of [open, locked]) server.close();
  await sender.stop();
  await store.close();
  remove();
});

async function visit(run: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> {
  if (browser === undefined) return console.log("skipped: no Chromium here; set CHROMIUM_PATH to one");
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 403/.test(message.text())) faults.push(message.text());
  });
  try {
    await run(page);
    assert.equal(faults, [], "something was refused by the policy");
  } finally {
    await context.close();
  }
}

/** What axe finds wrong, and whether the page is wider than the screen. */
async function audit(page: Page): Promise<string[]> {
  // The policy refuses every script of the page's; this one is the test's.
  await page.evaluate(axeCore.source);
  const { violations } = (await page.evaluate("axe.run(document, { preload: false })")) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  const wide = (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) as boolean;
  return [
    ...violations.map(({ id, nodes }) => `${page.url()} ${id}: ${nodes[0]!.html}`),
    ...(wide ? [page.url()] : []),
  ];
}

const mainText = async (page: Page): Promise<string> => (await page.locator("main").textContent()) ?? "";

const idOf = async (subject: string): Promise<number> =>
  (await sender.outbox.list()).find((one) => one.subject === subject)!.id;

for (const { width, colorScheme } of [
  { width: 320, colorScheme: "light" },
  { width: 1280, colorScheme: "dark" },
] as const)
  pages(`nothing is wrong by axe, and nothing too wide, at ${width} px and ${colorScheme}`, async () => {
    await visit(
      async (page) => {
        const [resting] = (await sender.outbox.endpoints()).filter(({ principal }) => principal === "acme");
        const found: string[] = [];
        const paths = {
          endpoints: "/",
          endpoint: `/endpoint?${new URLSearchParams({ name: resting!.endpoint })}`,
          events: "/events?state=waiting",
          event: `/event?id=${await idOf("dead")}`,
        };
        for (const [name, where] of Object.entries(paths)) {
          await page.goto(urlOf(open) + where);
          await page.screenshot({ path: path.join(shots, `${name}-${width}.png`), fullPage: true });
          found.push(...(await audit(page)));
        }
        await page.goto(urlOf(locked));
        found.push(...(await audit(page)));
        assert.equal(found, []);
      },
      { viewport: { width, height: 800 }, colorScheme },
    );
  });

pages("by keyboard an endpoint is paused, seen as paused, and resumed", async () => {
  await visit(
    async (page) => {
      await page.goto(urlOf(open));
      const button = page.getByRole("button", { name: /^Pause https:\/\/gone\.example/ });
      await button.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("row", { name: /paused/ }).waitFor();
      const [one] = (await sender.outbox.endpoints()).filter(({ principal }) => principal === "acme");
      assert.is(one!.state, "paused");
      await page.getByRole("button", { name: /^Resume https:\/\/gone\.example/ }).click();
      await until(async () => (await sender.outbox.endpoints()).every(({ state }) => state !== "paused"));
    },
    { javaScriptEnabled: false },
  );
});

pages("what a hostile receiver answered is text, and nothing of it runs", async () => {
  await visit(async (page) => {
    await page.goto(`${urlOf(open)}/event?id=${await idOf("dead")}`);
    assert.match(await mainText(page), "<script>document.title='owned'</script>");
    assert.match(await mainText(page), "(cut)");
    assert.match(await mainText(page), "<b>initech</b>");
    assert.match(await page.title(), /^Event \d+/);
    assert.is(await page.locator("main script, main img, main b, form[action*=evil]").count(), 0);
  });
});

pages("another site's form, an old form and another name change nothing", async () => {
  const { endpoint } = (await sender.outbox.endpoints())[0]!;
  const first = await fetch(urlOf(open));
  const cookie = first.headers.get("set-cookie")!.split(";")[0]!;
  assert.match(first.headers.get("set-cookie")!, "HttpOnly; SameSite=Strict");
  assert.match(first.headers.get("content-security-policy")!, "default-src 'none'");
  const csrf = /name="csrf" value="([^"]+)"/.exec(await first.text())![1]!;
  const post = async (given: Record<string, string>, headers: Record<string, string>, form = "pause") =>
    (
      await fetch(`${urlOf(open)}/${form}`, {
        method: "POST",
        redirect: "manual",
        headers,
        body: new URLSearchParams({ endpoint, ...given }),
      })
    ).status;
  const origin = urlOf(open);
  assert.is(await post({ csrf }, { cookie, origin: "https://evil.example" }), 403);
  assert.is(await post({ csrf }, { cookie, "sec-fetch-site": "cross-site" }), 403);
  assert.is(await post({ csrf }, { origin }), 403);
  assert.is(await post({ csrf: `${csrf}x` }, { cookie, origin }), 403);
  assert.is(await post({}, { cookie, origin }), 403);
  assert.is(await post({ csrf: "x".repeat(9_000) }, { cookie, origin }), 413);
  assert.ok((await sender.outbox.endpoints()).every(({ state }) => state !== "paused"));
  assert.is(await post({ csrf, endpoint: `${endpoint}x` }, { cookie, origin }), 404);
  assert.is(await post({ csrf, endpoint: `${endpoint}x` }, { cookie, origin }, "resume"), 404);
  assert.ok((await sender.outbox.endpoints()).every(({ state }) => state !== "paused"));
  assert.is(await post({ csrf }, { cookie, origin }), 303);
  assert.is(await post({ csrf }, { cookie, origin }, "resume"), 303);
  const { request } = await import("node:http");
  const status = await new Promise((resolve) => {
    request({ port: portOf(open), host: "127.0.0.1", headers: { host: "rebound.example" } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).end();
  });
  assert.is(status, 421);
});

pages("with a token nothing is shown or changed without it", async () => {
  const { endpoint } = (await sender.outbox.endpoints())[0]!;
  for (const where of ["/events", "/event?id=1", `/endpoint?${new URLSearchParams({ name: endpoint })}`])
    assert.is((await fetch(urlOf(locked) + where)).status, 403);
  await visit(async (page) => {
    await page.goto(urlOf(locked));
    assert.not.match(await mainText(page), "gone.example");
    await page.getByLabel("Token").fill("a guess");
    await page.keyboard.press("Enter");
    assert.match((await page.getByRole("alert").textContent())!, "not the token");
    await page.getByLabel("Token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Endpoints" }).waitFor();
    assert.match(await mainText(page), "gone.example");
  });
});

pages("open to other machines only with a token", async () => {
  const given = ["serve", "--store", "sqlite:outbox.db", "--port", "0", "--host", "0.0.0.0"];
  const refused = await runCommand(outbox, given);
  assert.is(refused.code, 2);
  assert.match(refused.err, "open to other machines");
  process.env.ADBIND_OUTBOX_TOKEN = "short";
  assert.match((await runCommand(outbox, given)).err, "too short");
  delete process.env.ADBIND_OUTBOX_TOKEN;
});

pages("where the screenshots are", () => console.log(`screenshots: ${shots}`));
pages.run();
