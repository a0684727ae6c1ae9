/** The pages in a real browser, without a script and by keyboard alone; screenshots go to a temporary folder. */

import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { freePort } from "../../runtime/testing/free-port.js";
import { audit, tooWide } from "../explorer/visit.js";
import { startBrowser } from "../support/browser.js";
import { cellsOf } from "../support/cells.js";
import { type Setup, setupRegistry } from "./server-fixture.js";
import { BROKEN, NEWS, OTHER, places, SELLER, seedWorld, WIDE } from "./server-world.js";

const pages = suite("pages");
const PASSWORD = "a password of length";

let setup: Setup;
let base: string;
let browser: Browser | undefined;
const shots = mkdtempSync(path.join(tmpdir(), "adbind-pages-"));

pages.before(async () => {
  const port = await freePort();
  base = `http://localhost:${port}`;
  setup = await setupRegistry({ embeddedIssuer: true, baseUrl: base, now: Date.now });
  const organization = await setup.accounts.addOrganization({ name: "Seller", tier: "company_standard" });
  await setup.accounts.addUser({ email: "ada@buyer.example", password: PASSWORD, name: "Ada" });
  await seedWorld(setup.registry.data, organization.id);
  await setup.registry.listen({ host: "localhost", port });
  browser = await startBrowser();
});
pages.after(async () => {
  await browser?.close();
  await setup.close();
});

async function open(run: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> {
  if (browser === undefined) return console.log("skipped: no Chromium here; set CHROMIUM_PATH to one");
  const context = await browser.newContext({ javaScriptEnabled: false, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("requestfailed", (request) => void faults.push(`${request.url()} failed`));
  page.on("console", (message) => {
    // A form that is sent back says 400.
    if (message.type() === "error" && !/status of 400/.test(message.text())) faults.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(base) && !/^(data:|http:\/\/127\.0\.0\.1)/.test(request.url()))
      faults.push(request.url());
  });
  try {
    await run(page);
    assert.equal(faults, [], "something was refused by the policy, or loaded from elsewhere");
  } finally {
    await context.close();
  }
}

const textOf = async (found: Locator): Promise<string> => (await found.textContent()) ?? "";

/** What has the focus, in words of the accessibility tree. Playwright needs a script for it, the page has none. */
const focused = async (page: Page): Promise<string> => {
  const found = page.locator(":focus");
  return (await found.count()) === 0 ? "nothing" : ((await found.getAttribute("id")) ?? (await textOf(found)));
};

pages("by keyboard: past the menu, type a domain, read what was found", async () => {
  await open(async (page) => {
    await page.goto(base);
    await page.screenshot({ path: path.join(shots, "home.png"), fullPage: true });
    await page.keyboard.press("Tab");
    assert.is(await focused(page), "Skip to the content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.is(await focused(page), "domain");
    await page.keyboard.type(`https://${NEWS.toUpperCase()}/`);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/publisher\?domain=/);
    assert.is(await textOf(page.locator("h1")), NEWS);
    assert.match(await textOf(page.locator("main")), `Found. https://${NEWS}/.well-known/adagents.json is valid.`);
    const rows = await page.getByRole("region", { name: "Authorized agents" }).locator("tbody tr").allInnerTexts();
    assert.ok(
      rows.some((row) => row.includes(SELLER) && row.includes("everything")),
      rows.join("\n"),
    );
    assert.ok(rows.some((row) => row.includes(OTHER) && row.includes("1 of 2 properties")));
    assert.ok(rows.some((row) => row.includes("nothing the publisher confirms")));
    const own = page.getByRole("region", { name: "The brand's own agents" }).locator("tbody tr");
    assert.equal(await own.allInnerTexts(), [`https://ads.${NEWS}/mcp\tsales\tdesk`]);
    await page.screenshot({ path: path.join(shots, "publisher.png"), fullPage: true });
  });
});

pages("why a file is not usable, and what was left out of it", async () => {
  await open(async (page) => {
    await page.goto(`${base}/publisher?domain=${BROKEN}`);
    const text = await textOf(page.locator("main"));
    assert.match(text, "Not usable.");
    for (const part of [
      "/authorized_agents/0",
      "url is not an https URL",
      "give the agent's own address, an https URL",
    ])
      assert.match(text, part);
    await page.goto(`${base}/publisher?domain=nodots`);
    const input = page.getByLabel("Publisher's domain");
    assert.is(await input.getAttribute("aria-invalid"), "true");
    assert.match(await textOf(page.getByRole("alert")), "This is no domain");
    await page.goto(`${base}/publisher?domain=${WIDE}`);
    assert.match(await textOf(page.locator("main")), "50 of 60.");
    await page.getByRole("link", { name: "More agents" }).click();
    const agents = page.getByRole("region", { name: "Authorized agents" }).locator("tbody tr");
    assert.equal([await agents.count(), await agents.filter({ hasText: "everything" }).count()], [10, 10]);
    await page.getByLabel("Agent", { exact: true }).fill("AGENT-07");
    await page.keyboard.press("Enter");
    await page.waitForURL(/AGENT-07/);
    assert.is(await agents.count(), 1);
  });
});

pages("agents by what they can sell: choices with their counts, of the protocol's own values", async () => {
  await open(async (page) => {
    await page.goto(`${base}/agents`);
    const channels = page.getByRole("group").filter({ hasText: "Channels" }).getByRole("checkbox");
    assert.is(await channels.count(), 20, "the protocol's channels");
    await page.getByRole("checkbox", { name: "ctv (2)", exact: true }).check();
    await page.getByLabel("With trusted match").check();
    await page.getByLabel("Fewest properties").press("Enter");
    await page.waitForURL(/channels=ctv/);
    const rows = await page.locator("tbody tr").allInnerTexts();
    assert.is(rows.length, 1);
    assert.match(rows[0]!, SELLER);
    assert.match(rows[0]!, "3 at 3 publishers");
    assert.ok(await page.getByLabel("With trusted match").isChecked(), "the form keeps what was asked");
    await page.screenshot({ path: path.join(shots, "agents.png"), fullPage: true });
    await page.getByRole("link", { name: "Without Channels ctv" }).click();
    assert.not.match(page.url(), "ctv");
    await page.getByRole("link", { name: SELLER }).click();
    assert.match(await textOf(page.locator("main")), NEWS);
    await page.getByRole("link", { name: `Why may it sell for ${NEWS}?` }).click();
    assert.match(await textOf(page.locator(".verdict")), `Yes. ${SELLER} may sell inventory of ${NEWS}`);
    await page.getByLabel("Property").fill("no-such");
    await page.keyboard.press("Enter");
    await page.waitForURL(/no-such/);
    assert.match(
      await textOf(page.locator("main")),
      "declares no property no-such. What to do: declare it in properties.",
    );
    await page.goto(`${base}/map`);
    await page.getByRole("link", { name: "1 agents, ctv in DE" }).click();
    assert.is(await page.locator("tbody tr").count(), 1);
    await page.goto(`${base}/agents?min_properties=few`);
    assert.match(await textOf(page.getByRole("alert")), "min_properties must be a number");
  });
});

pages("the API page lists every operation, on a narrow and dark screen too", async () => {
  await open(
    async (page) => {
      await page.goto(`${base}/docs`);
      assert.ok((await page.locator("section").count()) >= 20);
      await page.screenshot({ path: path.join(shots, "docs-narrow-dark.png") });
    },
    { viewport: { width: 360, height: 740 }, colorScheme: "dark" },
  );
});

pages("a file is pasted and looked at", async () => {
  await open(
    async (page) => {
      await page.goto(`${base}/check`);
      await page.getByLabel("Publisher's domain").fill(NEWS);
      await page.getByLabel("The file").fill('{\n  "authorized_agents": [{ "url": "http://a.example" }]\n}');
      await page.getByRole("button", { name: "Look at it" }).press("Enter");
      await page.getByText("/authorized_agents/0 line 2").waitFor();
      await page.screenshot({ path: path.join(shots, "check-narrow.png"), fullPage: true });
      assert.match(await page.getByRole("textbox", { name: "The file" }).inputValue(), "authorized_agents");
    },
    { viewport: { width: 320, height: 640 } },
  );
});

pages("every page: nothing overflows the narrowest screen, and axe finds nothing", async () => {
  await open(
    async (page) => {
      const looked = cellsOf("ADBIND_CELLS=all ./run test test/registry/server-pages.test.ts", places, 4);
      for (const place of places) {
        await page.goto(base + place);
        assert.equal(await (looked.includes(place) ? audit(page) : tooWide(page)), [], place);
      }
    },
    { viewport: { width: 320, height: 640 }, javaScriptEnabled: true, colorScheme: "dark" },
  );
});

pages("a file is written from a form, and downloaded", async () => {
  await open(async (page) => {
    await page.goto(`${base}/build`);
    await page.getByLabel("Your domain").fill(NEWS);
    await page.getByLabel("Name").first().fill("Site");
    await page.getByLabel("Identifier", { exact: true }).first().fill(NEWS);
    await page.getByRole("button", { name: "One more agent" }).click();
    assert.is(await page.getByRole("group", { name: /^Agent / }).count(), 3);
    await page.getByLabel("Address").first().fill(SELLER);
    await page.getByLabel("Authorized for").first().fill("All");
    await page.getByLabel("Countries").first().fill("de, at");
    await page.keyboard.press("Enter");
    await page.getByText("Valid.").waitFor();
    const href = (await page.getByRole("link", { name: "Download" }).getAttribute("href"))!;
    const file = (await (await fetch(base + href)).json()) as { authorized_agents: object[] };
    assert.equal(file.authorized_agents, [
      {
        url: SELLER,
        authorized_for: "All",
        authorization_type: "publisher_properties",
        publisher_properties: [{ publisher_domain: NEWS, selection_type: "all" }],
        countries: ["DE", "AT"],
      },
    ]);
  });
});

pages("logging in leads back to the application, through the policy's form-action", async () => {
  const landed: string[] = [];
  const callback = createServer((request, response) => {
    landed.push(request.url!);
    response.setHeader("content-type", "text/html").end("<title>Back</title><link rel=icon href=data:,>");
  });
  await new Promise<void>((resolve) => callback.listen(0, "127.0.0.1", resolve));
  const redirect = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`;
  const registered = await fetch(`${base}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: [redirect], client_name: "Planner" }),
  });
  const { client_id } = (await registered.json()) as { client_id: string };
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    client_id,
    response_type: "code",
    redirect_uri: redirect,
    scope: "openid",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  try {
    await open(async (page) => {
      await page.goto(`${base}/oauth/authorize?${query}`);
      await page.getByLabel("Mail address").fill("ada@buyer.example");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.screenshot({ path: path.join(shots, "login.png") });
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Allow" }).waitFor();
      await page.screenshot({ path: path.join(shots, "consent.png") });
      await page.getByRole("button", { name: "Allow" }).press("Enter");
      await page.waitForURL(/\/callback\?/);
      assert.match(landed[0]!, /^\/callback\?code=/);
    });
  } finally {
    callback.closeAllConnections();
    callback.close();
  }
});

pages.after(() => console.log(browser === undefined ? "" : `screenshots: ${shots}`));

pages.run();
