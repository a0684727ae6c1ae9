/** `adbind conform`: the published storyboards of a release, run against a live agent. */
import type { Command } from "commander";
import { runConformance, supportedVersions } from "../runtime/conformance/index.js";
import { type TransportName, transportNames } from "../runtime/contract/index.js";
import { AdbindError } from "../runtime/errors.js";
import { registerBuyer } from "./conform/buyer.js";
import { certificatesIn } from "./conform/certificates.js";
import { type FormOptions, formOf, printReport, storyboardProgress, withFormOptions } from "./conform/forms.js";
import { type PlaceOptions, placesOf } from "./conform/places.js";
import { printJson } from "./output.js";
import { releaseHelp, withReleaseOptions } from "./release/resolve.js";

interface Options extends PlaceOptions, FormOptions {
  storyboard: string[];
  specialism: string[];
  step?: string;
  auth?: string;
  transport: string;
  agent: string[];
  resolve: string[];
  contract: string[];
  ca?: string;
  webhookBase?: string;
  timeout: string;
}

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

/** `KEY=VALUE` of an option that may be given several times. */
function pairs(given: readonly string[], option: string, form: string): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf("=");
      if (at <= 0 || at === text.length - 1) throw usage(`${option} ${text} is no ${form}`, `give ${form}`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

const USUAL_SECONDS = "30";

function transportOf(given: string): TransportName {
  const known = transportNames.find((one) => one === given);
  if (known === undefined) throw usage(`there is no transport ${given}`, "give mcp or a2a");
  return known;
}

/** What a step's own command has to repeat of this one. The token is not told: it stands where the user has it. */
function againOf(options: Options): string[] {
  const given = ["release", "transport", "ca", "webhookBase", "timeout"] as const;
  const usual: Partial<Options> = { transport: "mcp", timeout: USUAL_SECONDS };
  const words = given.flatMap((name) => {
    const value = options[name];
    return value === undefined || value === usual[name]
      ? []
      : [`--${name.replace("webhookBase", "webhook-base")}`, value];
  });
  const lists = ["agent", "resolve", "contract"] as const;
  const more = lists.flatMap((name) => options[name].flatMap((value) => [`--${name}`, value]));
  return [...words, ...more, ...(options.auth === undefined ? [] : ["--auth", "$TOKEN"])];
}

async function conform(url: string, options: Options): Promise<void> {
  if (!URL.canParse(url)) throw usage(`${url} is no URL`, "give scheme and host, e.g. https://seller.example/mcp");
  if (!(Number(options.timeout) > 0)) throw usage("--timeout is no number of seconds", "give e.g. 30");
  formOf(options);
  const reach = {
    url,
    transport: transportOf(options.transport),
    ...(options.auth !== undefined && { auth: options.auth }),
    resolve: pairs(options.resolve, "--resolve", "HOST=ADDRESS"),
    ...(options.ca !== undefined && { ca: certificatesIn(options.ca) }),
  };
  const places = await placesOf(options, () => supportedVersions(reach));
  for (const warning of places.warnings) console.error(`warning: ${warning}`);
  const progress = storyboardProgress();
  const report = await runConformance({
    ...reach,
    release: places.release,
    documents: places.documents,
    published: places.published,
    suite: places.suite,
    agents: pairs(options.agent, "--agent", "KEY=URL"),
    storyboards: options.storyboard,
    specialisms: options.specialism,
    contracts: options.contract,
    ...(options.step !== undefined && { step: options.step }),
    ...(options.webhookBase !== undefined && { webhooks: { base: options.webhookBase } }),
    timeoutMs: Number(options.timeout) * 1000,
    onBegin: progress.begin,
  });
  progress.stop();
  printReport({ ...report, again: againOf(options) }, options);
  if (!report.ok) process.exitCode = 1;
}

/** Nothing answers there: a code of its own, so that a build can tell it from a failed step. */
const UNREACHABLE = 3;

const collect = (value: string, before: string[]): string[] => [...before, value];

export function register(command: Command): void {
  registerBuyer(command);
  const declared = withReleaseOptions(command)
    .argument("<url>", "the agent: its MCP endpoint, or where its A2A card is")
    .option("--release <release>", `${releaseHelp}, or a version of $ADBIND_CORPUS`)
    .option("--suite <place>", "the compliance/ folder of a release, or its bundle")
    .option("--storyboard <id>", "only this one; may be given several times", collect, [])
    .option("--specialism <id>", "only those of a specialism; may be given several times", collect, [])
    .option("--step <id>", "report this step only")
    .option("--auth <token>", "bearer token, or a whole Authorization header")
    .option("--transport <name>", "mcp or a2a", "mcp")
    .option("--agent <key=url>", "the agent of another role, e.g. governance; may be given several times", collect, [])
    .option("--resolve <host=address>", "where a host name leads; may be given several times", collect, [])
    .option(
      "--contract <id>",
      "a contract between runner and agent that is kept; may be given several times",
      collect,
      [],
    )
    .option("--ca <file>", "certificates to trust beside the system's, PEM")
    .option("--webhook-base <url>", "what the agent is told of our receiver, where something stands before it")
    .option("--timeout <seconds>", "how long an answer may take", USUAL_SECONDS);
  withFormOptions(declared)
    .addHelpText(
      "after",
      `
Without --storyboard and --specialism it runs what the agent's capabilities call for, in one run. Use a sandbox: storyboards
place orders, and an agent whose test controller has reset_state is asked before each to take away what the caller has:
two runs at a time of one caller spoil each other, so give each its own --auth. Suite and release are found for each other;
without both, the newest release that the agent lists and of which a suite is at hand in $ADBIND_CORPUS.

Exit code: 0 no step failed, and what the agent claims was executed; 1 a step failed or nothing of a claim was executed;
2 the command line is wrong, or no suite is at hand; 3 the agent cannot be asked.

Example: adbind conform https://sandbox.seller.example/mcp --suite ./compliance --auth $TOKEN --html > report.html`,
    )
    .action(async (url: string, options: Options) => {
      try {
        await conform(url, options);
      } catch (error) {
        if (!(error instanceof AdbindError) || error.code !== "agent_unreachable") throw error;
        console.error(`adbind: ${error.message}`);
        if (options.json) printJson({ ok: false, error: { code: error.code, message: error.message } });
        process.exitCode = UNREACHABLE;
      }
    });
}
