/** Keys of secrets at the command line: made, listed, rotated; and an endpoint that moves with what is sealed. */
import { linkSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as outbox } from "../../cli/outbox.js";
import { createSender, type SenderOptions, secretKeysIn } from "../../runtime/sender/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { FakeNetwork, NOW, optionsFor } from "../sender/fixture.js";
import { push, secret, start } from "../sender/sender-suite.js";
import { until } from "../support/until.js";
import { commandFolder, runCommand } from "./run-command.js";

const { at, remove } = commandFolder();
const given = ["--store", "sqlite:outbox.db"];

async function opened(over: Partial<SenderOptions>, file = "outbox.db") {
  const clock = { at: NOW };
  const network = new FakeNetwork(clock);
  const store = openSqliteStore({ path: at(file) });
  const { secrets: _secrets, ...options } = optionsFor(clock, network);
  const sender = await createSender({ ...options, ...over, store });
  const close = async () => {
    await sender.stop();
    await store.close();
  };
  return { sender, network, close };
}

test("keys are made, registrations listed under them, rotated, and moved", async () => {
  const run = (...argv: string[]) => runCommand(outbox, argv);
  assert.match((await run("secrets", "new", "keys", "--id", "old")).out, "keys has the key old");
  assert.is(statSync(at("keys")).mode & 0o777, 0o600);
  const authentication = { schemes: ["HMAC-SHA256"], credentials: secret };
  const first = await opened({ secrets: () => secretKeysIn(at("keys")), sealBodies: true });
  await first.sender.tasks.register(start(), { push: { ...push, authentication } });
  await first.sender.tasks.update("task-1", { status: "working" });
  const { endpoint } = (await first.sender.outbox.endpoints())[0]!;
  await first.close();

  assert.match((await run("secrets", "new", ".")).err, "The file cannot be written", "a folder is no file");
  // A key that is added stands in a file of its own until that is whole, and then takes the other one's place.
  linkSync(at("keys"), at("before"));
  const before = readFileSync(at("keys"), "utf8");
  await run("secrets", "new", "keys", "--id", "new");
  assert.is(readFileSync(at("before"), "utf8"), before);
  const listed = async (keys: string) =>
    JSON.parse((await run("secrets", "list", ...given, "--keys", keys, "--json")).out).keys;
  assert.equal(await listed("keys"), [{ key: "old", registrations: 1, bodies: 1, state: "known" }]);
  assert.is((await run("secrets", "rotate", ...given)).code, 2);
  writeFileSync(at("other"), "other BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA\n");
  const lost = await run("secrets", "rotate", ...given, "--keys", "other");
  assert.is(lost.code, 1);
  assert.match(lost.err, "2 are under keys that are not among these");
  assert.match((await run("secrets", "rotate", ...given, "--keys", "keys")).out, "2 sealed anew");
  assert.equal(await listed("keys"), [{ key: "new", registrations: 1, bodies: 1, state: "current" }]);
  writeFileSync(at("keys"), readFileSync(at("keys"), "utf8").split("\n")[0]!);
  const body = async (keys: string) => (await run("show", "1", ...given, "--keys", keys, "--body")).out;
  assert.match(await body("keys"), '"task_id":"task-1"');
  assert.match(await body("other"), "its body is under the key new, which is not here");

  const to = "https://new.example/hooks";
  assert.is((await run("move", endpoint, to, ...given, "--keys", "keys")).code, 2);
  const sealed = await run("move", endpoint, to, ...given, "--keys", "other", "--yes");
  assert.equal([sealed.code, /1 registration stay/.test(sealed.err)], [1, true]);
  assert.match(
    (await run("move", endpoint, to, ...given, "--keys", "keys", "--yes")).out,
    "1 registration and 1 event go",
  );
  const second = await opened({ secrets: () => secretKeysIn(at("keys")) });
  second.sender.start();
  await until(() => second.network.sent.length === 1);
  assert.is(second.network.sent[0]!.url, to);
  await second.close();
});

test("in development a key is made beside the store, said once, and used again", async () => {
  const warnings: string[] = [];
  const listen = (warning: Error) => void (warning.name === "AdbindDevelopment" && warnings.push(warning.message));
  process.on("warning", listen);
  for (const taskId of ["a", "b"]) {
    const { sender, close } = await opened({ mode: "development" });
    const registered = await sender.tasks.register(start({ taskId }), { push: { ...push, token: "t".repeat(16) } });
    assert.equal(registered, { ok: true, registered: true });
    await close();
  }
  await until(() => warnings.length > 0);
  // Who keeps a log reads it there, and there alone.
  const logged: string[] = [];
  const { close } = await opened(
    { mode: "development", logger: { warn: (said: string) => logged.push(said) } as never },
    "logged.db",
  );
  await close();
  await until(() => logged.length > 0);
  process.off("warning", listen);
  assert.equal([warnings.length, warnings[0]!.includes("outbox.db.keys")], [1, true]);
  assert.is(statSync(at("outbox.db.keys")).mode & 0o777, 0o600);
});

test("a file that is none of keys is refused, and says nothing of what is in it", async () => {
  for (const text of ["", "id", `id ${secret}`, "a AAAA", "i d BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA"]) {
    writeFileSync(at("bad"), text);
    const { code, err } = await runCommand(outbox, ["secrets", "list", ...given, "--keys", "bad"]);
    assert.is(code, 1);
    assert.not.match(err, secret);
  }
  remove();
});

test.run();
