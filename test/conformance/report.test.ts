/** A report in each of its forms: what a failed step says, what is hidden, and the page in a real browser. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import axeCore from "axe-core";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type ConformanceReport,
  countsLine,
  htmlReport,
  junitReport,
  markdownReport,
  redactedReport,
  type StepResult,
  textReport,
} from "../../runtime/conformance/index.js";
import { startBrowser } from "../support/browser.js";

const TOKEN = "secret-token-of-the-run-0001";

const step = (id: string, more: Partial<StepResult>): StepResult => ({
  storyboard: "orders",
  phase: "p",
  step: id,
  title: `Step ${id}`,
  task: "create_media_buy",
  status: "passed",
  checks: [],
  required: "Reject with <INVALID_REQUEST>",
  hash: "0".repeat(12),
  tookMs: 12,
  ...more,
});

const steps: readonly StepResult[] = [
  step("good", {}),
  step("bad", {
    status: "failed",
    problem: "the task failed: SERVICE_UNAVAILABLE",
    checks: [
      {
        check: "field_value",
        outcome: "failed",
        description: "The state is active",
        pointer: "/status\u202egro.rellim",
        expected: "active",
        actual: "</script><script>alert(1)</script>\u001b[31m",
        schema: "media-buy/x.json",
      },
    ],
    request: {
      transport: "mcp",
      operation: "create_media_buy",
      url: `https://user:pass@agent.example/mcp?token=${TOKEN}`,
      payload: { authentication: { credentials: TOKEN }, note: `Bearer ${TOKEN}` },
    },
    response: {
      status: 200,
      headers: { "set-cookie": TOKEN, "content-type": "application/json" },
      payload: { api_key: TOKEN, text: "```\nfence" },
      origin: "structured_content",
    },
  }),
  step("left", { status: "skipped", skip: { reason: "missing_tool", detail: "the agent would have to offer x" } }),
  step("odd", { status: "faulty", fault: "the text says otherwise" }),
];

const report: ConformanceReport = {
  suite: { version: "9.9.9", place: "/suites/9.9.9" },
  release: { word: "proto", version: "9.9.9" },
  agent: { url: "https://agent.example/mcp", transport: "a2a", tools: ["create_media_buy"] },
  startedAt: "2026-01-01T00:00:00.000Z",
  tookMs: 1234,
  storyboards: [{ id: "orders", title: "Orders", file: "universal/orders.yaml", steps, verdict: "failed" }],
  notSelected: [],
  counts: { passed: 1, failed: 1, skipped: 1, notGraded: 0, faulty: 1, unchecked: 0, advisories: 0 },
  unknownChecks: {},
  notices: ["a notice"],
  ok: false,
};

const shown = redactedReport(report);
const forms = {
  text: textReport(shown),
  json: JSON.stringify(shown),
  junit: junitReport(shown),
  markdown: markdownReport(shown),
  html: htmlReport(shown),
};

for (const [form, content] of Object.entries(forms))
  test(`${form}: nothing that opens a door is in it`, () => {
    assert.not.match(content, TOKEN);
    assert.not.match(content, "pass@");
  });

test("a failed step says what was asked, sent and answered, where it differs, and how to run it alone", () => {
  for (const part of [
    "orders/bad",
    "Reject with",
    "SERVICE_UNAVAILABLE",
    "at /status?gro.rellim",
    "expected active",
    "schema media-buy/x.json",
  ])
    assert.match(forms.text, part);
  assert.match(forms.text, /again: adbind conform .*--storyboard orders --step bad --transport a2a/);
  assert.match(forms.text, "missing_tool: the agent would have to offer x");
  assert.match(forms.text, "the suite contradicts itself: the text says otherwise");
  assert.not.match(forms.text, "\u001b");
  assert.is(forms.text.split("\n").at(-1), countsLine(report.counts));
  assert.is(countsLine(report.counts), "steps: 1 passed, 1 failed, 1 skipped, 0 not graded, 1 faulty");
});

test("JUnit's report counts steps and escapes texts", () => {
  assert.match(forms.junit, '<testsuite name="orders" tests="4" failures="1" skipped="2">');
  assert.not.match(forms.junit, "<script>");
});

test("Markdown's fences cannot be closed from inside", () => {
  assert.match(forms.markdown, "````json");
});

test("the page works from disk: it has no script, loads nothing, and scrolls sideways on no phone", async () => {
  const browser = await startBrowser();
  if (browser === undefined) return;
  const file = path.join(mkdtempSync(path.join(tmpdir(), "adbind-report-")), "report.html");
  writeFileSync(file, forms.html);
  try {
    const page = await browser.newPage({ viewport: { width: 375, height: 700 } });
    const asked: string[] = [];
    const dialogs: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("dialog", (dialog) => dialogs.push(dialog.message()));
    await page.goto(pathToFileURL(file).href);
    assert.equal([asked.length, dialogs], [1, []]);
    assert.is(await page.locator("h1").count(), 1);
    assert.match((await page.locator("main").textContent()) ?? "", "</script><script>alert(1)");
    const wider = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.is(wider, 0);
    await page.locator("summary").last().focus();
    await page.keyboard.press("Enter");
    assert.ok((await page.locator("details").last().getAttribute("open")) !== null);
    await page.evaluate(axeCore.source);
    const { violations } = await page.evaluate<{ violations: { id: string }[] }>("axe.run(document)");
    assert.equal(
      violations.map(({ id }) => id),
      [],
    );
  } finally {
    await browser.close();
  }
});

test.run();
