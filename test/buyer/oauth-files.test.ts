/** Tokens between runs: files that their owner alone may read. */
import { readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fileTokens } from "../../runtime/buyer/index.js";
import type { AdbindError } from "../../runtime/errors.js";
import { tempFolder } from "../support/release.js";

const ISSUER = "https://issuer.example/tenant";

test("tokens are kept in files that their owner alone may read, whole or not at all", async () => {
  const folder = path.join(tempFolder(), "state", "tokens");
  const [first, second] = [fileTokens(folder), fileTokens(folder)];
  assert.is(await first.get("https://a.example/mcp"), undefined);
  const tokens = { accessToken: "a1", issuer: ISSUER, refreshToken: "r1", expiresAt: 5 };
  await first.set("https://a.example/mcp", tokens);
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => second.set("https://b.example/mcp", { accessToken: `b${n}`, issuer: ISSUER })),
  );
  assert.equal(await second.get("https://a.example/mcp"), tokens);
  assert.match((await first.get("https://b.example/mcp"))?.accessToken ?? "", /^b\d+$/);
  const files = readdirSync(folder);
  assert.is(files.length, 2, "what was being written is gone");
  for (const file of files) assert.is(statSync(path.join(folder, file)).mode & 0o777, 0o600);
  writeFileSync(path.join(folder, files[0]!), '{"accessTok');
  writeFileSync(path.join(folder, files[1]!), "7");
  assert.is(await first.get("https://a.example/mcp"), undefined, "cut short: as good as none");
  await first.set("https://a.example/mcp", undefined);
  await first.set("https://a.example/mcp", undefined);
  assert.is(readdirSync(folder).length, 1);
  writeFileSync(path.join(folder, "file"), "");
  const kept = Promise.resolve(fileTokens(path.join(folder, "file")).set("https://a.example", tokens));
  const code = await kept.then(String, (error: AdbindError) => error.code);
  assert.is(code, "file_unusable");
});

test.run();
