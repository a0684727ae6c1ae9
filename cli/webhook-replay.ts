/** `adbind webhook replay`: sends kept webhooks again, to see what a receiver makes of them now. */
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { createGuardedFetch } from "../runtime/net/index.js";
import { printable } from "../runtime/printable.js";
import { type SignableRequest, signWebhook } from "../runtime/signing/index.js";
import { readInput, signingKey } from "./key-file.js";
import { userPath } from "./output.js";
import { parseRequestFile } from "./request-file.js";
import { sendOn } from "./webhook-kept.js";
import { wordHelp, wordToSign } from "./webhook-word.js";

interface ReplayGiven {
  to: string;
  key?: string;
  kid?: string;
  word?: string;
  local?: boolean;
}

/** The same bytes under a signature of now: one that was made minutes ago is refused wherever it is believed. */
async function signedAfresh(
  request: SignableRequest,
  { to, key: file, kid, ...given }: ReplayGiven,
): Promise<SignableRequest> {
  if (file === undefined) return request;
  const key = signingKey(userPath(file), kid);
  const word = await wordToSign(given, key);
  const { headers } = await signWebhook({ ...request, url: to, headers: {} }, { key, keyid: key.kid, word });
  return { ...request, headers: { ...headers } };
}

async function replay(files: string[], given: ReplayGiven): Promise<void> {
  if (URL.parse(given.to) === null)
    throw new AdbindError("usage", "There is nowhere to send to", {
      where: given.to,
      remedy: "give an http or https URL",
    });
  const requests = files.map((file) => parseRequestFile(readInput(userPath(file)), given.to));
  const fetch = createGuardedFetch(given.local ? { allowHttp: true, allowLoopback: true } : {});
  try {
    for (const [at, request] of requests.entries()) {
      const { status, body } = await sendOn(fetch, given.to, await signedAfresh(request, given));
      console.log(printable(`${files[at]}: HTTP ${status} ${Buffer.from(body).toString()}`.trimEnd()));
      if (status < 200 || status > 299) process.exitCode = 1;
    }
  } finally {
    await fetch.close();
  }
}

export const replayCommand = (parent: Command): Command =>
  parent
    .command("replay")
    .description("sends kept webhooks again and prints the answers; exit 1 when one is not 2xx")
    .argument("<request-file...>", "as adbind webhook listen --keep writes them")
    .requiredOption("--to <url>", "where to")
    .option("--key <file>", "sign anew over the same bytes, by this private file; default the headers they came with")
    .option("--kid <name>", "which of its keys; default the newest")
    .option("--word <word>", wordHelp)
    .option("--local", "plain http and this machine are allowed")
    .addHelpText("after", "\nExample: adbind webhook replay arrived/0001.http --to http://127.0.0.1:3000/hooks --local")
    .action(replay);
