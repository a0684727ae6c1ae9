/** `adbind webhook listen`: shows what arrives, whether it verifies and whether it is a webhook; keeps and forwards it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { createGuardedFetch, type GuardedFetch } from "../runtime/net/index.js";
import { printable } from "../runtime/printable.js";
import { type KeySource, memoryReplayStore } from "../runtime/signing/index.js";
import { listenAt } from "./listening.js";
import { shownPath, userPath } from "./output.js";
import { arrivalLines, judgeArrival, type WebhookRequest } from "./webhook-arrival.js";
import { Kept, sendOn } from "./webhook-kept.js";
import { keysGiven } from "./webhook-keys.js";
import { wordHelp, wordToVerify } from "./webhook-word.js";

interface ListenGiven {
  port: string;
  jwks?: string;
  agent?: string;
  release?: string;
  local?: boolean;
  url?: string;
  status?: string;
  count?: string;
  word?: string;
  keep?: string;
  forward?: string;
}

/** Receivers take no more (docs/protocol/webhooks.md#limits). */
const MAX_BODY_BYTES = 1_048_576;
/** Read on, and thrown away, of a larger one: a sender whose connection breaks while it sends never sees the 413. */
const MAX_DRAINED_BYTES = 8 * MAX_BODY_BYTES;
/** Milliseconds a sender has to send one: senders wait no longer for the answer. */
const REQUEST_LIMIT_MS = 30_000;

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_DRAINED_BYTES) break;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks);
}

function whole(text: string, what: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
  throw new AdbindError("usage", `${text} is no ${what}`, { remedy: `give ${min} to ${max}` });
}

function forwardTarget(url: string | undefined): string | undefined {
  if (url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? "")) return url;
  throw new AdbindError("usage", "There is nowhere to forward to", { where: url, remedy: "give an http or https URL" });
}

/** Names and values as they were sent, in their order. */
const headersOf = ({ rawHeaders }: IncomingMessage): [string, string][] =>
  rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] as string] as [string, string]] : []));

interface Listener {
  readonly keys: KeySource | undefined;
  readonly word: string;
  /** What is answered to a webhook with which nothing is wrong. */
  readonly status: number;
  readonly url: string | undefined;
  readonly kept: Kept | undefined;
  readonly forward: string | undefined;
  readonly fetch: GuardedFetch;
}

/** What is forwarded gets the answer of where it went; an answer that does not come is a bad gateway's. */
async function forwarded(to: string, arrival: WebhookRequest, fetch: GuardedFetch): Promise<number> {
  try {
    const { status, body } = await sendOn(fetch, to, arrival);
    console.log(printable(`forwarded to ${to}: HTTP ${status} ${Buffer.from(body).toString()}`.trimEnd()));
    return status;
  } catch (error) {
    if (!(error instanceof AdbindError)) throw error;
    console.log(printable(`not forwarded: ${error.message}`));
    return 502;
  }
}

function handlerOf({ keys, word, status, url: base, kept, forward, fetch }: Listener, server: () => Server) {
  const replay = memoryReplayStore();
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    if (body === undefined) {
      console.log(`${printable(request.url ?? "/")}: more than ${MAX_BODY_BYTES} bytes, answered 413`);
      response.writeHead(413, { connection: "close" }).end();
      return;
    }
    const target = request.url ?? "/";
    const { port } = server().address() as AddressInfo;
    const url = URL.parse(target, base ?? `http://127.0.0.1:${port}`)?.href ?? target;
    const arrival: WebhookRequest = {
      method: request.method ?? "POST",
      target,
      url,
      headers: headersOf(request),
      body,
    };
    const verdict = await judgeArrival(arrival, { keys, replay, word });
    for (const line of arrivalLines(arrival, verdict)) console.log(line);
    if (kept !== undefined) console.log(`kept as ${shownPath(kept.keep(arrival))}`);
    if (verdict.signature?.ok === false)
      response.setHeader("www-authenticate", `Signature error="${verdict.signature.code}"`);
    // What is forwarded is judged over there: this is to see what it makes of it.
    const answer = forward === undefined ? (verdict.refusal ?? status) : await forwarded(forward, arrival, fetch);
    console.log(`answered ${answer}\n`);
    response.writeHead(answer).end();
  };
}

async function listen(given: ListenGiven): Promise<void> {
  const port = whole(given.port, "port", 0, 65_535);
  const count = given.count === undefined ? Number.POSITIVE_INFINITY : whole(given.count, "count", 1, 1_000_000);
  const fetch = createGuardedFetch({ allowHttp: true, allowLoopback: true });
  const word = await wordToVerify(given);
  const receive = handlerOf(
    {
      keys: await keysGiven({ ...given, word }),
      word,
      status: given.status === undefined ? 200 : whole(given.status, "HTTP status", 200, 599),
      url: given.url,
      kept: given.keep === undefined ? undefined : new Kept(userPath(given.keep)),
      forward: forwardTarget(given.forward),
      fetch,
    },
    () => server,
  );
  let seen = 0;
  const answered = (): void => {
    seen += 1;
    if (seen >= count) server.close();
  };
  const server = createServer({ requestTimeout: REQUEST_LIMIT_MS }, (request, response) => {
    receive(request, response).then(answered, (error: unknown) => {
      console.error(printable(`could not be answered: ${error instanceof Error ? error.message : error}`));
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  console.log(`listening on ${await listenAt(server, "127.0.0.1", port)}/`);
  await new Promise<void>((resolve) => server.once("close", resolve));
  await fetch.close();
}

export const listenCommand = (parent: Command): Command =>
  parent
    .command("listen")
    .description("shows webhooks that arrive on this machine: headers, verdict, envelope and body")
    .option("--port <number>", "on 127.0.0.1; 0 picks one", "8787")
    .option("--jwks <file or URL>", "the sender's keys; without any nothing is verified")
    .option(
      "--agent <url>",
      "the sender's agent URL: keys are found through the brand file that it declares, or its own",
    )
    .option("--release <release>", "with --agent: the release that the sender speaks, which decides how keys are found")
    .option("--local", "with --agent or a URL of keys: they are on this machine, with or without TLS")
    .option("--url <base>", "public URL in front of it, when there is a tunnel")
    .option("--status <code>", "what to answer where nothing is wrong, to see the sender retry; default 200")
    .option("--count <number>", "stop after so many")
    .option("--keep <folder>", "each is kept as a file, as it came: for adbind webhook verify and replay")
    .option("--forward <url>", "each is sent on as it came, and answered with the answer to that")
    .option("--word <word>", wordHelp)
    .addHelpText(
      "after",
      "\nValues of headers that are credentials are not shown; kept files hold them.\n" +
        "\nExample: adbind webhook listen --agent https://seller.example/mcp --keep arrived --forward http://127.0.0.1:3000/hooks",
    )
    .action(listen);
