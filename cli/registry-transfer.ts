/** `adbind registry import` and `export`: all that a registry knows, as lines of JSON. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { stat, truncate } from "node:fs/promises";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { SingleBar } from "cli-progress";
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { exportRegistry } from "../runtime/registry/transfer/export.js";
import { importRegistry } from "../runtime/registry/transfer/import.js";
import type { TransferLine } from "../runtime/registry/transfer/lines.js";
import { parseLine } from "../runtime/registry/transfer/parse-line.js";
import { plural, userPath } from "./output.js";
import { openNamedStore, registryStoreOption } from "./store.js";

/** Longest line taken: a publisher with some 100,000 properties. Beyond it a file is no export of ours. */
const LINE_LIMIT_CHARACTERS = 128 * 1024 * 1024;
/** A file is read so much at a time. */
const CHUNK_BYTES = 1024 * 1024;

/** Lines of a stream, without their ends. @param consumed told how many bytes have been read */
async function* linesOf(input: Readable, consumed: (bytes: number) => void): AsyncGenerator<string> {
  let rest = "";
  let bytes = 0;
  const decoder = new TextDecoder("utf-8");
  for await (const chunk of input as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop()!;
    if (rest.length > LINE_LIMIT_CHARACTERS)
      throw new AdbindError("file_unusable", "a line is longer than any registry writes", {
        remedy: "give an export, as NDJSON",
      });
    for (const line of lines) yield line;
    consumed(bytes);
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}

/** A name for an import that the same file gets again, and no other: one that was corrected in its last line is another file. */
async function importId(file: string, size: number): Promise<string> {
  const digest = createHash("sha256");
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) digest.update(chunk as Buffer);
  return `${path.basename(file)}:${size}:${digest.digest("base64url").slice(0, 22)}`;
}

interface ImportFlags {
  store: string;
  id?: string;
  again?: boolean;
  skipInvalid?: boolean;
}

async function importFile(given: string, flags: ImportFlags): Promise<void> {
  const file = given === "-" ? undefined : userPath(given);
  const size = file === undefined ? 0 : await sizeOf(file);
  const id = flags.again ? undefined : (flags.id ?? (file === undefined ? undefined : await importId(file, size)));
  const bar = process.stderr.isTTY && file !== undefined ? progressBar(size) : undefined;
  const store = await openNamedStore(flags.store, "create");
  const started = performance.now();
  try {
    const input = file === undefined ? process.stdin : createReadStream(file, { highWaterMark: CHUNK_BYTES });
    const result = await importRegistry(
      store,
      linesOf(input, (bytes) => bar?.update(bytes)),
      {
        ...(id !== undefined && { id }),
        progress: ({ properties, profiles }) =>
          bar?.update({ what: profiles > 0 ? plural(profiles, "profile") : `${properties} properties` }),
        ...(flags.skipInvalid && { invalid: (line, why) => console.error(`line ${line} left out: ${why}`) }),
      },
    );
    bar?.stop();
    if (result.doneBefore) return console.log("nothing to do: this file was imported before (--again imports it anew)");
    if (result.resumedAfter > 0) console.log(`went on after line ${result.resumedAfter}`);
    const seconds = (performance.now() - started) / 1000;
    console.log(
      `${plural(result.publishers, "publisher")}, ${result.properties} properties, ${plural(result.members, "member")}, ` +
        `${plural(result.hosted, "hosted file")}, ${plural(result.claims, "claim")}; ${plural(result.profiles, "profile")} ` +
        `computed; ${seconds.toFixed(1)} s`,
    );
    if (result.optedOut > 0)
      console.error(`${plural(result.optedOut, "publisher")} left out, as their owners have opted out`);
    if (result.outdated > 0)
      console.error(
        `${plural(result.outdated, "publisher")} crawled here since the export: what the crawl found stays`,
      );
    if (result.invalid > 0) {
      console.error(`${plural(result.invalid, "line")} left out`);
      process.exitCode = 1;
    }
  } finally {
    bar?.stop();
    await store.close();
  }
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file);
  if (found.isDirectory())
    throw new AdbindError("file_unusable", "it is a folder", { where: file, remedy: "give an export, as NDJSON" });
  return found.size;
}

function progressBar(bytes: number): SingleBar {
  const bar = new SingleBar({
    format: "{bar} {percentage} % {what} {eta_formatted}",
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
  });
  bar.start(bytes, 0, { what: "" });
  return bar;
}

/** The last whole line of an export that was cut off; what follows it is cut away. */
async function lastLine(file: string): Promise<TransferLine | undefined> {
  let last: string | undefined;
  let end = 0;
  let whole = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    const at = chunk.lastIndexOf(10);
    if (at !== -1) whole = end + at + 1;
    end += chunk.length;
  }
  if (whole === 0) return undefined;
  for await (const line of linesOf(createReadStream(file, { end: whole - 1 }), () => undefined)) last = line;
  await truncate(file, whole);
  const parsed = parseLine(last!);
  if (!parsed.ok)
    throw new AdbindError("file_unusable", `the file is no export: its last line ${parsed.why}`, { where: file });
  return parsed.line;
}

async function write(output: Writable, lines: AsyncIterable<string>): Promise<number> {
  let count = 0;
  for await (const line of lines) {
    count += 1;
    if (!output.write(`${line}\n`)) await once(output, "drain");
  }
  return count;
}

async function exportFile(given: string, flags: { store: string; resume?: boolean }): Promise<void> {
  const store = await openNamedStore(flags.store, "read");
  try {
    if (given === "-") {
      await write(process.stdout, exportRegistry(store));
      return;
    }
    const file = userPath(given);
    const after = flags.resume ? await lastLine(file) : undefined;
    const output = createWriteStream(file, { flags: flags.resume ? "a" : "wx" });
    // A stream that cannot be opened says so before anything is written.
    await once(output, "open");
    const count = await write(output, exportRegistry(store, after));
    output.end();
    await once(output, "finish");
    console.log(`${plural(count, "line")} written`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new AdbindError("file_unusable", "the file is there already", {
      where: given,
      remedy: "--resume goes on with it; otherwise name another",
    });
  } finally {
    await store.close();
  }
}

const FORMAT_HELP = `
Each line is a JSON object of one kind:
  publisher  domain; crawl (valid, method, crawled_at, validated_at, http_status, ...);
             adagents_json, aao_hosted: properties, authorized_agents, genres, others;
             discovered: properties; brand_json: name, properties, agents (url, type, id, description)
  member     slug, display_name, organization, tier, founding, is_public,
             domains (domain, verified), agents (url, type, visibility, delivery_types, format_kinds, has_tmp)
  hosted     domain, file
  claims     agent_url, claims (publisher_domain, authorized_for)
A publisher's line takes the place of what was known from each source it names; the fields of properties and agents
are those of the agent-authorization file. Times are ISO 8601 in UTC.`;

/** Adds `import` and `export` to the registry's command. */
export function registerTransfer(command: Command): void {
  registryStoreOption(command.command("import"))
    .description("takes an export in; after a crash the same command goes on where it was")
    .argument("<file>", "NDJSON, or - for standard input")
    .option("--id <name>", "name of the import, for going on after a crash (default: made from the file)")
    .option("--again", "import anew what was imported before")
    .option("--skip-invalid", "leave out lines that cannot be taken, and say which")
    .addHelpText("after", FORMAT_HELP)
    .action(importFile);
  registryStoreOption(command.command("export"))
    .description("writes all that the registry knows, but keys and users")
    .argument("<file>", "NDJSON to make, or - for standard output")
    .option("--resume", "go on with a file that was cut off")
    .addHelpText("after", FORMAT_HELP)
    .action(exportFile);
}
