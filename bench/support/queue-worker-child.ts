/**
 * A worker in a process of its own: tells its parent how many events it has sent, and what that cost it. It is `ready`
 * before it begins, `{ sent, usedMs }` while it works, and tells `{ cpuMs }` when it has stopped.
 */
import { generateKeyPairSync } from "node:crypto";
import { Agent, request } from "undici";
import { signWebhookSync } from "../../runtime/signing/index.js";
import { contender } from "./queue-contenders.js";

interface Given {
  readonly name: string;
  readonly url: string;
  readonly listenUrl?: string;
  readonly prompt: boolean;
  readonly queue?: string;
}

const { name, url, listenUrl, prompt, queue } = JSON.parse(process.argv[2]!) as Given;
const TOLD_MS = 5;
const MICROSECONDS = 1_000;

const key = generateKeyPairSync("ed25519").privateKey;
const agent = new Agent({ connections: 64, keepAliveTimeout: 60_000 });

/** The same request that the sender makes. */
async function post(to: string, body: Buffer): Promise<void> {
  const { headers } = signWebhookSync({ method: "POST", url: to, headers: {}, body }, { key, keyid: "k" });
  const answer = await request(to, { method: "POST", headers: { ...headers }, body, dispatcher: agent });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
}

const chosen = await contender(name);
let [sent, told] = [0, 0];
const working = await chosen.work({ url, listenUrl, prompt, queue, post, sent: () => (sent += 1) });
process.send!("ready");
await new Promise((resolve) => process.once("message", resolve));
const before = process.cpuUsage();
await working.begin();
const usedMs = (): number => {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / MICROSECONDS;
};
const telling = setInterval(() => {
  if (sent !== told) process.send!({ sent, usedMs: usedMs() });
  told = sent;
}, TOLD_MS);
await new Promise((resolve) => process.once("message", resolve));
clearInterval(telling);
await working.stop();
process.send!({ cpuMs: usedMs() });
process.disconnect();
process.exit(0);
