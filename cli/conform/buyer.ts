/** `adbind conform buyer`: a seller is played to a buyer, and what the buyer does is graded. */
import type { Command } from "commander";
import { type BuyerTask, runBuyerConformance } from "../../runtime/conformance/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { releaseHelp, withReleaseOptions } from "../release/resolve.js";
import { type FormOptions, formOf, printReport, storyboardProgress, withFormOptions } from "./forms.js";
import { buyerPlacesOf, type PlaceOptions } from "./places.js";

interface Options extends PlaceOptions, FormOptions {
  listen?: string | boolean;
  start?: string;
  receiver?: string;
  storyboard: string[];
  step?: string;
  base?: string;
  deadline?: string;
  quiet?: string;
}

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

/** `8789`, `0.0.0.0:8789` or nothing: a free port of this machine. */
function addressOf(listen: string | boolean | undefined): { host?: string; port?: number } {
  if (typeof listen !== "string") return {};
  const at = listen.lastIndexOf(":");
  const port = Number(listen.slice(at + 1));
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw usage(`--listen ${listen} names no port`, "give e.g. 8789 or 0.0.0.0:8789");
  return { port, ...(at > 0 && { host: listen.slice(0, at) }) };
}

function secondsOf(given: string | undefined, option: string): { ms?: number } {
  if (given === undefined) return {};
  if (!(Number(given) > 0)) throw usage(`${option} is no number of seconds`, "give e.g. 60");
  return { ms: Number(given) * 1000 };
}

function checkedUrl(given: string | undefined, option: string): string | undefined {
  if (given !== undefined && !URL.canParse(given))
    throw usage(`${option} ${given} is no URL`, "give scheme and host, e.g. http://127.0.0.1:4000/buy");
  return given;
}

/** What whoever starts the buyer by hand has to know. */
function tell({ storyboard, phase, brief, seller, requests }: BuyerTask): void {
  console.error(`\n${storyboard}/${phase}: buy from ${seller.url} over MCP`);
  console.error(`  ${brief.replaceAll("\n", "\n  ")}`);
  for (const { task, request } of requests) console.error(`  ${task} ${JSON.stringify(request)}`);
}

async function conformBuyer(options: Options): Promise<void> {
  formOf(options);
  const serve = { ...addressOf(options.listen), ...(options.base !== undefined && { base: options.base }) };
  const start = checkedUrl(options.start, "--start");
  const receiver = checkedUrl(options.receiver, "--receiver");
  const { ms: deadlineMs } = secondsOf(options.deadline, "--deadline");
  const { ms: quietMs } = secondsOf(options.quiet, "--quiet");
  const places = await buyerPlacesOf(options);
  for (const warning of places.warnings) console.error(`warning: ${warning}`);
  const progress = storyboardProgress();
  const report = await runBuyerConformance({
    release: places.release,
    documents: places.documents,
    ...(places.suite !== undefined && { suite: places.suite }),
    storyboards: options.storyboard,
    ...(options.step !== undefined && { step: options.step }),
    ...(start === undefined ? { onTask: tell } : { start }),
    ...(receiver !== undefined && { receiver }),
    serve,
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(quietMs !== undefined && { quietMs }),
    onBegin: progress.begin,
  });
  progress.stop();
  printReport({ ...report, again: againOf(options) }, options);
  if (!report.ok) process.exitCode = 1;
}

/** What a step's own command has to repeat of this one. */
function againOf(options: Options): string[] {
  const given = ["release", "suite", "start", "receiver", "base", "deadline", "quiet"] as const;
  const words = given.flatMap((name) => (options[name] === undefined ? [] : [`--${name}`, options[name]]));
  return typeof options.listen === "string" ? [...words, "--listen", options.listen] : words;
}

const collect = (value: string, before: string[]): string[] => [...before, value];

export function registerBuyer(parent: Command): void {
  const command = parent
    .command("buyer")
    .description("a seller is played to a buyer, and what the buyer does is graded");
  withFormOptions(
    withReleaseOptions(command)
      .option(
        "--listen [address]",
        "where the seller is played: a port, or HOST:PORT; a free port of this machine without",
      )
      .option("--start <url>", "starts the buyer: each task is posted there as JSON, and answered when it is done")
      .option("--receiver <url>", "the buyer's receiver of webhooks: published vectors are posted to it")
      .option("--release <release>", `${releaseHelp}, or a version of $ADBIND_CORPUS: what the played seller speaks`)
      .option("--suite <place>", "a suite whose buyers' storyboards and vectors for receivers are run too")
      .option("--storyboard <id>", "only this one; may be given several times", collect, [])
      .option("--step <id>", "report this step only")
      .option("--base <url>", "what the buyer is told of the seller, where something stands before it")
      .option("--deadline <seconds>", "how long a phase may take: 60, or 600 without --start")
      .option("--quiet <seconds>", "without a call for so long a buyer is done: 3, or 15 without --start"),
  )
    .addHelpText(
      "after",
      `
The seller's answers are scripted: orders that take time, fail, wait for input; a limited rate, a lost answer; webhooks that
come twice, late, captured and forged. They are signed; the key is at /keys of the seller's host, and its /.well-known/brand.json
names it. No published suite has had storyboards for buyers: those of adbind's own say that they are unpublished.

Without --start each task is printed, and whoever reads it starts the buyer. With it the task is the body of a POST:
{storyboard, phase, brief, seller: {url}, requests: [{task, request}]}.

Exit code: 0 no step failed and one passed; 1 otherwise; 2 the command line is wrong, or no release is at hand.

Example: adbind conform buyer --listen 8789 --release 3.1.19 --start http://127.0.0.1:4000/buy`,
    )
    // Options that `conform` has too are read there, wherever they stand.
    .action((_own: Options, asked: Command) => conformBuyer(asked.optsWithGlobals()));
}
