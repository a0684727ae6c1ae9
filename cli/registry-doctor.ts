/** `adbind registry doctor`: what is wrong with a publisher's file, and with the network it speaks for. */
import { existsSync, readFileSync, statSync } from "node:fs";
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import {
  type Doctor,
  type ExaminedFile,
  type LinkStatus,
  openDoctor,
  type PublisherLink,
} from "../runtime/registry/crawl/index.js";
import { publisherDomain } from "../runtime/registry/model.js";
import { linesOfPointers } from "../runtime/registry/pointer-lines.js";
import { plural, printJson, shownPath, userPath, wholeNumber } from "./output.js";
import { isWatched } from "./progress.js";

/** Files that somebody has, in bytes: as large as one that is fetched. */
const MAX_BYTES = 10 * 1024 * 1024;
/** How often is said how far it is, in milliseconds: on a terminal, and in a log. */
const WATCHED_MS = 500;
const LOGGED_MS = 30_000;

export interface DoctorValues {
  readonly domain?: string;
  readonly network?: boolean;
  readonly others?: string;
  readonly concurrency: number;
  readonly deadline: number;
  readonly json?: boolean;
}

const usage = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("usage", what, { where, remedy });

function domainOf(text: string): string {
  const domain = publisherDomain(text);
  if (domain === undefined) throw usage("that is no file, and no domain", text, "give one such as news.example");
  return domain;
}

function bytesOf(file: string): Buffer {
  if (statSync(file).size > MAX_BYTES)
    throw usage("the file is larger than any that is read", shownPath(file), `files have ${MAX_BYTES} bytes at most`);
  return readFileSync(file);
}

/** What was looked at, with the lines of what is wrong where the text is at hand. */
interface Report {
  readonly examined: ExaminedFile;
  readonly lines: ReadonlyMap<string, number>;
}

function reportOfFile(doctor: Doctor, file: string, domain: string | undefined): Report {
  const bytes = bytesOf(file);
  if (domain === undefined)
    throw usage("nobody knows whom the file is to speak for", shownPath(file), "give --domain, such as news.example");
  const examined = doctor.given(bytes, domainOf(domain));
  return {
    examined,
    lines: linesOfPointers(
      bytes.toString("utf8"),
      examined.problems.map(({ pointer }) => pointer),
    ),
  };
}

const othersOf = (file: string | undefined): string[] =>
  file === undefined
    ? []
    : bytesOf(userPath(file))
        .toString("utf8")
        .split(/\s+/)
        .flatMap((text) => (text === "" ? [] : domainOf(text)));

/** Says how far it is, now and then. */
function progress(total: number, say: (line: string) => void): { onLooked: () => void } {
  const every = isWatched() ? WATCHED_MS : LOGGED_MS;
  let [looked, said] = [0, performance.now()];
  return {
    onLooked() {
      looked += 1;
      if (performance.now() - said < every) return;
      said = performance.now();
      say(`${looked} of ${plural(total, "publisher")} looked at`);
    },
  };
}

async function linksOf(doctor: Doctor, { network }: ExaminedFile, values: DoctorValues): Promise<PublisherLink[]> {
  const others = othersOf(values.others);
  const signal = AbortSignal.timeout(values.deadline * 1_000);
  const { onLooked } = progress(network.publishers.length + others.length, (line) => console.error(line));
  return doctor.links(network, { concurrency: values.concurrency, others, signal, onLooked });
}

const statuses: readonly LinkStatus[] = [
  "linked",
  "own",
  "stale",
  "missing",
  "orphaned",
  "unreachable",
  "apart",
  "skipped",
];
/** What is as it should be, or nothing of the network's. */
const well: readonly LinkStatus[] = ["linked", "apart"];

const countsOf = (links: readonly PublisherLink[]): [LinkStatus, number][] =>
  statuses.map((status) => [status, links.filter((one) => one.status === status).length]);

function printReport({ examined, lines }: Report, links: readonly PublisherLink[] | undefined): void {
  const say = (line: string): void => console.log(printable(line));
  const { domain, verdict, error, method, url, agents, properties, problems, network } = examined;
  say(`${domain}  ${verdict}${error === null ? "" : `: ${error}`}${url === null ? "" : `  ${url} (${method})`}`);
  const publishers = network.publishers.length;
  const speaks = publishers === 0 ? "" : `; names ${plural(publishers, "other publisher")}`;
  if (verdict === "valid")
    say(
      `  ${plural(agents, "agent")}, ${properties === 1 ? "1 property" : `${properties} properties`} of its own${speaks}`,
    );
  for (const { effect, pointer, message, remedy, rule } of problems) {
    const line = lines.get(pointer);
    const at = `${pointer || "/"}${line === undefined ? "" : ` (line ${line})`}`;
    say(`  ${effect === "left" ? "left out" : "noted"} ${at}: ${message} [${rule}]; ${remedy}`);
  }
  if (links === undefined) {
    if (publishers > 0) say("  --network looks whether each of them points here");
    return;
  }
  for (const one of links)
    if (!well.includes(one.status)) say(`  ${one.status} ${one.domain}: ${one.detail}; ${one.remedy}`);
  const told = countsOf(links).filter(([status, count]) => count > 0 || well.indexOf(status) === 0);
  say(`  network: ${told.map(([status, count]) => `${count} ${status}`).join(", ")}`);
}

function printed({ examined, lines }: Report, links: readonly PublisherLink[] | undefined): object {
  const { network, problems, ...rest } = examined;
  return {
    ...rest,
    problems: problems.map((one) => ({ ...one, line: lines.get(one.pointer) ?? null })),
    publishers: network.publishers.length,
    ...(links !== undefined && {
      network: {
        counts: Object.fromEntries(countsOf(links)),
        publishers: links.filter(({ status }) => !well.includes(status)),
      },
    }),
  };
}

/**
 * Looks at a file, or at the one of a domain, and says what is wrong with it.
 * @returns whether all is well
 */
export async function lookOver(doctor: Doctor, what: string, values: DoctorValues): Promise<boolean> {
  const file = userPath(what);
  const report: Report =
    existsSync(file) && statSync(file).isFile()
      ? reportOfFile(doctor, file, values.domain)
      : { examined: await doctor.atDomain(domainOf(what)), lines: new Map() };
  const wanted = values.network || values.others !== undefined;
  const links =
    wanted && report.examined.verdict === "valid" ? await linksOf(doctor, report.examined, values) : undefined;
  if (values.json) printJson(printed(report, links));
  else printReport(report, links);
  const { verdict, problems } = report.examined;
  const sound = verdict === "valid" && problems.every(({ effect }) => effect === "noted");
  return sound && (links ?? []).every(({ status }) => well.includes(status) || status === "own");
}

const number = (what: string) => (text: string) => wholeNumber(text, what, "give a whole number from 1");

export function register(command: Command): void {
  command
    .command("doctor <domain|file>")
    .description("says what is wrong with a publisher's file, at its domain or on this disk; nothing is kept")
    .option("--domain <domain>", "whom a file on this disk is to speak for")
    .option("--network", "looks whether every publisher that the file names points to it")
    .option("--others <file>", "a list of domains that may point to it without being named")
    .option("--concurrency <n>", "publishers looked at at once", number("number of publishers"), 32)
    .option("--deadline <seconds>", "of looking at the network", number("number of seconds"), 1_800)
    .option("--json", "prints one JSON document")
    .action(async (what: string, values: DoctorValues) => {
      const doctor = openDoctor();
      try {
        if (!(await lookOver(doctor, what, values))) process.exitCode = 1;
      } finally {
        await doctor.close();
      }
    });
}
