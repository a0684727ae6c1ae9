/** `adbind webhook send`: one signed event to a URL, to see what a receiver makes of it. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { createGuardedFetch } from "../runtime/net/index.js";
import { signTestWebhook, type TestKey } from "../runtime/testing/index.js";
import { readInput, signingKey } from "./key-file.js";
import { userPath } from "./output.js";
import { type ReleaseOptions, releaseHelp } from "./release/resolve.js";
import { bodyOfEvent, listEvents } from "./webhook-events.js";
import { faultHelp, faultsNamed, type Sendable, sendFaults } from "./webhook-faults.js";
import { wordHelp, wordToSign } from "./webhook-word.js";

interface SendGiven extends ReleaseOptions {
  list?: boolean;
  event?: string;
  release?: string;
  key?: string;
  kid?: string;
  body?: string;
  task: string;
  tool: string;
  status: string;
  operation?: string;
  word?: string;
  local?: boolean;
  fault?: string;
}

/** A minimal event of a task, where the user gives no body. */
const sample = ({ task, tool, status, operation }: SendGiven): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify({
      idempotency_key: randomUUID(),
      ...(operation !== undefined && { operation_id: operation }),
      task_id: task,
      task_type: tool,
      status,
      timestamp: new Date().toISOString(),
    }),
  );

/** Sends requests to one URL. */
function transport(url: string, local: boolean | undefined) {
  const fetch = createGuardedFetch(local ? { allowHttp: true, allowLoopback: true } : {});
  const exchange = async ({ method, headers, body }: Sendable) => {
    const answer = await fetch(url, { method, headers, body, maxBytes: 4_096, oversize: "truncate" });
    if (!answer.ok) {
      throw new AdbindError("delivery_failed", "The event was not delivered", {
        where: `${answer.code}: ${answer.detail}`,
        remedy: local ? "see that something listens there" : "plain http and this machine need --local",
      });
    }
    const text = new TextDecoder().decode(answer.body).replace(/[^\x20-\x7e\n]/g, "?");
    return { status: answer.status, headers: answer.headers, body: text };
  };
  return { exchange, close: () => fetch.close() };
}

async function bodyFor(given: SendGiven): Promise<Uint8Array> {
  if (given.body !== undefined) return readInput(userPath(given.body));
  if (given.event === undefined) return sample(given);
  const { event, operation, release } = given;
  return new TextEncoder().encode(JSON.stringify(await bodyOfEvent(event, operation, release, given)));
}

async function send(url: string | undefined, given: SendGiven): Promise<void> {
  if (given.list) return listEvents(given.release, given);
  if (url === undefined || given.key === undefined) {
    throw new AdbindError("usage", "Nothing to send, or nowhere", { remedy: "give a URL and --key, or --list" });
  }
  const faults = given.fault === undefined ? undefined : faultsNamed(given.fault);
  const body = await bodyFor(given);
  const privateKey = signingKey(userPath(given.key), given.kid);
  const key = { keyid: privateKey.kid, word: await wordToSign(given, privateKey), privateKey };
  const { exchange, close } = transport(url, given.local);
  try {
    if (faults === undefined) await sendOne(url, { body, key, exchange });
    else await sendFaults(faults, { url, body, key, exchange });
  } finally {
    await close();
  }
}

interface Sending {
  readonly body: Uint8Array;
  readonly key: Pick<TestKey, "keyid" | "word" | "privateKey">;
  readonly exchange: ReturnType<typeof transport>["exchange"];
}

async function sendOne(url: string, { body, key, exchange }: Sending): Promise<void> {
  const { status, headers, body: text } = await exchange(signTestWebhook({ url, event: body, key }));
  console.log(`HTTP ${status}`);
  const challenge = headers["www-authenticate"];
  if (challenge !== undefined) console.log(`www-authenticate: ${challenge}`);
  if (text !== "") console.log(text);
  if (status < 200 || status > 299) process.exitCode = 1;
}

export const sendCommand = (parent: Command): Command =>
  parent
    .command("send")
    .description("sends one signed event and prints the answer; exit 1 when it is not 2xx")
    .argument("[url]", "where to")
    .option("--list", "prints the events of a release instead: kind, channel, order, schema, required fields")
    .option("--event <kind>", "a small body of this kind, as the release's schema has it")
    .option("--release <release>", `with --list and --event: ${releaseHelp}; the newest of this package by default`)
    .option("--key <file>", "private file of adbind keys generate")
    .option("--kid <name>", "which of its keys; default the newest")
    .option("--body <file>", "the body's bytes; default a small event of a task")
    .option("--task <id>", "task of the small event", "task-1")
    .option("--tool <name>", "its tool", "create_media_buy")
    .option("--status <status>", "its status", "working")
    .option("--operation <id>", "its operation_id")
    .option("--word <word>", wordHelp)
    .option("--local", "plain http and this machine are allowed")
    .option("--fault <name>", "send it with a fault, and see that it is answered as the profile asks; exit 1 when not")
    .addHelpText("after", faultHelp)
    .addHelpText("after", "\nExample: adbind webhook send http://127.0.0.1:8787/ --key keys.private.json --local")
    .action(send);
