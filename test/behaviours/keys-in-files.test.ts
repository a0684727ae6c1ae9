/** Key files of a seller, as the key commands write and rotate them: which key signs, and which verifiers find. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/keys.js";
import { fromEnvironment, openSeller } from "../../runtime/behaviours/index.js";
import { runCommand } from "../cli/run-command.js";
import { publishedRelease, versions } from "./behaving-seller.js";

const [version] = versions;

async function inFolder(work: (file: string, keys: (...args: string[]) => Promise<void>) => Promise<void>) {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-test-"));
  const keys = async (...args: string[]): Promise<void> => {
    const { code, err } = await runCommand(register, args);
    assert.is(code, 0, err);
  };
  try {
    await work(path.join(folder, "signing-key.json"), keys);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const settingsWith = (file: string) => fromEnvironment({ SIGNING_KEY: file, DATA: path.dirname(file) });

async function publishedBy(file: string) {
  const release = await publishedRelease(version!);
  const { listen: _, ...settings } = await settingsWith(file);
  const seller = await openSeller({ ...settings, release, name: "Keys", specialisms: ["sales_non_guaranteed"] });
  const answer = await seller.seller.app.inject({ url: "/.well-known/jwks.json" });
  await seller.close();
  return { signs: settings.key!.kid, published: (answer.json() as { keys: { [member: string]: string }[] }).keys };
}

test("a key that was rotated out stays published, and signs no more", () =>
  inFolder(async (file, keys) => {
    await keys("generate", "--use", "webhook", "--kid", "first", "--out", file);
    await keys("rotate", file, "--kid", "second");
    await keys("rotate", file, "--kid", "third");
    await keys("remove", file, "first", "--keep-public");
    const { signs, published } = await publishedBy(file);
    assert.is(signs, "third");
    const own = published.filter(({ kid }) => !kid!.startsWith("development"));
    assert.equal(new Set(own.map(({ kid }) => kid)), new Set(["first", "second", "third"]));
    assert.not(published.some((key) => "d" in key));
  }));

test("a key for requests signs webhooks, one for anything else does not", () =>
  inFolder(async (file, keys) => {
    await keys("generate", "--use", "request", "--kid", "requests", "--out", file);
    assert.is((await settingsWith(file)).key?.kid, "requests");
    await keys("generate", "--use", "governance", "--kid", "other", "--out", `${file}.other`);
    await settingsWith(`${file}.other`).then(
      () => assert.unreachable(),
      ({ code, where, remedy }) => {
        assert.equal([code, where], ["seller_option_invalid", "SIGNING_KEY"]);
        assert.match(remedy, "--use webhook");
      },
    );
  }));

test.run();
