/** `adbind webhook`: sign and verify by hand, to find out why two ends disagree. */
import { createHash } from "node:crypto";
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { buildSignatureBase } from "../runtime/signing/base.js";
import { Malformed, parseContentDigest, parseSignatureInput } from "../runtime/signing/fields.js";
import { fieldValue } from "../runtime/signing/headers.js";
import {
  type KeySource,
  memoryReplayStore,
  type Refusal,
  type SignableRequest,
  type Step,
  signWebhook,
  verificationCodes,
  verifyWebhook,
} from "../runtime/signing/index.js";
import { canonicalUrl } from "../runtime/url.js";
import { readInput, signingKey } from "./key-file.js";
import { shownPath, userPath } from "./output.js";
import { parseHeaderLines, parseRequestFile } from "./request-file.js";
import { keysGiven } from "./webhook-keys.js";
import { listenCommand } from "./webhook-listen.js";
import { replayCommand } from "./webhook-replay.js";
import { sendCommand } from "./webhook-send.js";
import { wordHelp, wordToSign, wordToVerify } from "./webhook-word.js";

/** The checklist in its order (docs/protocol/signing.md#checklist). */
const steps: readonly (readonly [Step, string])[] = [
  [1, "the signature fields parse"],
  [2, "all six parameters are there"],
  [3, "the tag is the webhook profile's"],
  [4, "the algorithm is allowed"],
  [5, "the validity window is open and short enough"],
  [6, "exactly the five components are covered"],
  [7, "the keyid is a published key"],
  [8, "the key is for signing webhooks with this algorithm"],
  [9, "the key is not revoked"],
  ["9a", "the key has room for another nonce"],
  [10, "target and authority agree, the signature verifies"],
  [11, "Content-Digest is the body's"],
  [12, "the nonce is new"],
  [13, "the nonce is remembered"],
  [14, "the body is strict JSON"],
];

const seconds = (text: string): number => {
  if (!/^\d{1,12}$/.test(text))
    throw new AdbindError("usage", "Not a time", { where: text, remedy: "give unix seconds" });
  return Number(text);
};

const clockAt = (text: string | undefined): { now?: () => number } => {
  if (text === undefined) return {};
  const at = seconds(text);
  return { now: () => at };
};

/** For a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

interface SignGiven {
  url: string;
  key: string;
  kid?: string;
  word?: string;
  created?: string;
  nonce?: string;
  curl?: boolean;
  base?: boolean;
}

async function sign(bodyFile: string, given: SignGiven): Promise<void> {
  const body = readInput(userPath(bodyFile));
  const key = signingKey(userPath(given.key), given.kid);
  const { headers, signatureBase } = await signWebhook(
    { method: "POST", url: given.url, headers: { "content-type": "application/json" }, body },
    {
      key,
      keyid: key.kid,
      word: await wordToSign(given, key),
      ...clockAt(given.created),
      ...(given.nonce !== undefined && { nonce: given.nonce }),
    },
  );
  if (given.base) console.error(signatureBase);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  if (!given.curl) return console.log(lines.join("\n"));
  const fields = lines.map((line) => `-H ${quoted(line)}`).join(" ");
  console.log(
    `curl -sS -i -X POST ${fields} --data-binary ${quoted(`@${shownPath(userPath(bodyFile))}`)} ${quoted(given.url)}`,
  );
}

const signCommand = (parent: Command): Command =>
  parent
    .command("sign")
    .description("prints the headers that sign a body")
    .argument("<body-file>", "the bytes as they will be sent")
    .requiredOption("--url <url>", "where it will be sent")
    .requiredOption("--key <file>", "private file of adbind keys generate")
    .option("--kid <name>", "which of its keys; default the newest")
    .option("--word <word>", wordHelp)
    .option("--created <seconds>", "unix seconds; default now")
    .option("--nonce <text>", "base64url of at least 16 bytes; default random")
    .option("--curl", "print a curl command that sends it")
    .option("--base", "print the signature base too, on stderr")
    .addHelpText(
      "after",
      "\nExample: adbind webhook sign body.json --url https://buyer.example/hook --key keys.private.json --curl | sh",
    )
    .action(sign);

interface VerifyGiven {
  url?: string;
  headers?: string;
  body?: string;
  method: string;
  jwks?: string;
  agent?: string;
  release?: string;
  local?: boolean;
  now?: string;
  word?: string;
}

function requestOf(file: string | undefined, given: VerifyGiven): SignableRequest {
  if (file !== undefined) return parseRequestFile(readInput(userPath(file)), given.url);
  const { url, headers, body, method } = given;
  if (url === undefined || headers === undefined || body === undefined) {
    throw new AdbindError("usage", "Nothing to verify", {
      remedy: "give a request file, or --url, --headers and --body",
    });
  }
  const text = new TextDecoder().decode(readInput(userPath(headers)));
  return { method, url, headers: parseHeaderLines(text), body: readInput(userPath(body)) };
}

async function keysOf(given: VerifyGiven & { word: string }): Promise<KeySource> {
  const keys = await keysGiven(given);
  if (keys !== undefined) return keys;
  throw new AdbindError("usage", "The keys are not known", { remedy: "give either --jwks or --agent" });
}

/** The base as far as the message alone makes one, so that it is there whichever step fails. */
function baseOf(request: SignableRequest): string | undefined {
  const input = parseSignatureInput(fieldValue(request.headers, "signature-input") ?? "");
  const target = canonicalUrl(request.url, { unicodeHost: "refuse" });
  if (input instanceof Malformed || !target.ok) return undefined;
  const values: Record<string, string> = {
    "@method": request.method.toUpperCase(),
    "@target-uri": target.url,
    "@authority": target.authority,
  };
  const valueFor = (name: string): string => values[name] ?? fieldValue(request.headers, name) ?? "(no such field)";
  return buildSignatureBase(input.components, valueFor, input.text);
}

const digestOf = (body: Uint8Array): string => createHash("sha256").update(body).digest("base64url");

/** What usually explains a refusal. */
function hintFor({ step }: Refusal, request: SignableRequest): string | undefined {
  if (step === 5) return "an old request is verified as of its own time with --now <unix seconds>";
  if (step === 10)
    return "compare the base above with the signer's, line by line; @target-uri is the public URL, see --url";
  if (step !== 11) return undefined;
  const received = parseContentDigest(fieldValue(request.headers, "content-digest") ?? "");
  const { body } = request;
  const shorter = body.subarray(0, body.length - (body.at(-2) === 13 && body.at(-1) === 10 ? 2 : 1));
  if (body.at(-1) === 10 && digestOf(shorter) === received)
    return "the body file ends with a line break that was not sent";
  return `the digest of these ${body.length} bytes is ${digestOf(body)}; received ${String(received)}`;
}

function printSteps(failed: Step): void {
  const reached = steps.findIndex(([step]) => step === failed);
  for (const [index, [step, what]] of steps.entries()) {
    const mark = index < reached ? "ok  " : index === reached ? "FAIL" : "-   ";
    console.log(`${mark} ${String(step).padStart(2)} ${what}`);
  }
}

async function verify(file: string | undefined, given: VerifyGiven): Promise<void> {
  const request = requestOf(file, given);
  const word = await wordToVerify(given);
  const result = await verifyWebhook(request, {
    keys: await keysOf({ ...given, word }),
    replay: memoryReplayStore(),
    word,
    ...clockAt(given.now),
  });
  console.log("signature base:");
  console.log(
    (result.signatureBase ?? baseOf(request) ?? "(none: the fields or the URL do not parse)").replace(/^/gm, "  "),
  );
  console.log("");
  if (result.ok) {
    console.log(`accepted: signed by ${result.sender} with ${result.keyid} (${result.alg})`);
    return;
  }
  printSteps(result.step);
  console.log("");
  console.log(`refused at step ${result.step}: ${result.code}, ${verificationCodes[result.code].summary}`);
  if (result.detail !== undefined) console.log(`detail: ${result.detail}`);
  const hint = hintFor(result, request);
  if (hint !== undefined) console.log(`hint: ${hint}`);
  process.exitCode = 1;
}

const verifyCommand = (parent: Command): Command =>
  parent
    .command("verify")
    .description("verifies a signed request and says which step failed; exit 1 when refused")
    .argument(
      "[request-file]",
      "raw HTTP (request line, headers, empty line, body) or JSON {method, url, headers, body}",
    )
    .option("--url <url>", "public URL it was sent to; default https:// with the Host and path of the file")
    .option("--headers <file>", "header lines, instead of a request file")
    .option("--body <file>", "the body's bytes, instead of a request file")
    .option("--method <name>", "with --headers and --body", "POST")
    .option("--jwks <file or URL>", "the sender's keys")
    .option(
      "--agent <url>",
      "the sender's agent URL: keys are found through the brand file that it declares, or its own",
    )
    .option("--release <release>", "with --agent: the release that the sender speaks, which decides how keys are found")
    .option("--local", "with --agent or a URL of keys: they are on this machine, with or without TLS")
    .option("--now <seconds>", "verify as of this time, unix seconds")
    .option("--word <word>", wordHelp)
    .addHelpText(
      "after",
      "\nThe nonce is not looked up anywhere: a replay is accepted here.\n" +
        "\nExample: adbind webhook verify request.http --url https://buyer.example/hook --jwks jwks.json",
    )
    .action(verify);

export function register(command: Command): void {
  for (const add of [signCommand, verifyCommand, sendCommand, listenCommand, replayCommand]) add(command);
}
