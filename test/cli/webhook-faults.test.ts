/** `adbind webhook send --fault`, before a receiver that holds and one that believes everything. */
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as keys } from "../../cli/keys.js";
import { register as webhook } from "../../cli/webhook.js";
import { release } from "../../generated/3.1.0/index.js";
import { nodeListener } from "../../runtime/receiver/index.js";
import { staticKeys } from "../../runtime/signing/index.js";
import { createTestReceiver, faultNames } from "../../runtime/testing/index.js";
import { commandFolder, runCommand } from "./run-command.js";

const { at, remove } = commandFolder();
const SENDER = "https://seller.example/agent";
const servers: Server[] = [];

const send = (url: string, ...argv: string[]) =>
  runCommand(webhook, ["send", url, ...argv, "--key", "keys.private.json", "--local"]);

async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  servers.push(server);
  return server;
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

test.before(async () => {
  await runCommand(keys, ["generate", "--word", "proto", "--out", "keys.private.json"]);
});
test.after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  remove();
});

test("a receiver that holds answers every fault as the profile asks", async () => {
  const { out: published } = await runCommand(keys, ["jwks", "keys.private.json"]);
  let made: ReturnType<typeof createTestReceiver> | undefined;
  const server = await listen((request, response) => void nodeListener(made!.receiver)(request, response));
  made = createTestReceiver({
    ...{ release, sender: SENDER, publicUrl: urlOf(server), now: Date.now },
    senderConfig: { keys: staticKeys(JSON.parse(published), { sender: SENDER }) },
  });
  await made.receiver.expect({ route: "/hook", sender: SENDER, kind: "task" });
  const one = await send(`${urlOf(server)}/hook`, "--fault", "replayed");
  assert.is(one.code, 0, one.out + one.err);
  assert.match(one.out, "ok   replayed: HTTP 401\nfaults: 1 passed, 0 failed\n");
  const all = await send(`${urlOf(server)}/hook`, "--fault", "all");
  assert.match(all.out, `faults: ${faultNames.length} passed, 0 failed\n`, all.out);
  assert.match((await send(`${urlOf(server)}/hook`)).out, "HTTP 200");
  await made.close();
});

test("one that believes everything, or nothing, is told of, and the exit code is 1", async () => {
  const url = urlOf(await listen((request, response) => void request.resume().on("end", () => response.end("{}"))));
  const { out, code } = await send(url, "--fault", "stale");
  assert.is(code, 1);
  assert.match(out, "FAIL stale: answered 200, and not 401\nfaults: 0 passed, 1 failed");
  const shut = urlOf(
    await listen((request, response) => void request.resume().on("end", () => response.writeHead(401).end())),
  );
  const replayed = await send(shut, "--fault", "replayed");
  assert.match(replayed.out, "FAIL replayed: a good request was answered 401 before it");
});

test("every fault is in the help; what is none, and a body that is no event, are wrong arguments", async () => {
  const { out } = await runCommand(webhook, ["send", "--help"]);
  for (const name of faultNames) assert.match(out, `  ${name} `);
  const unknown = await send("http://127.0.0.1:1", "--fault", "nope");
  assert.is(unknown.code, 2);
  assert.match(unknown.err, "all, or one of unsigned");
  writeFileSync(at("list.json"), "[]");
  assert.is((await send("http://127.0.0.1:1", "--body", "list.json", "--fault", "stale")).code, 2);
});

test.run();
