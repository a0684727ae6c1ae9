/** Where the commands are: adbind-cli, beside the project somebody is in, or beside this package. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const INSTALL = "npm install --save-dev adbind-cli";

const HELP = `Usage: adbind <command> [options]

The commands come with adbind-cli, which is not installed here:

  ${INSTALL}

With it, adbind --help lists them: generate, new, check, call, webhook, keys, outbox, registry and more.`;

/** The command of adbind-cli, looked for where `from` would import it. */
function commandsFrom(from: string): string | undefined {
  try {
    return createRequire(from).resolve("adbind-cli/bin");
  } catch {
    return undefined;
  }
}

const ownVersion = (): string =>
  (JSON.parse(readFileSync(path.resolve(import.meta.dirname, "../../package.json"), "utf8")) as { version: string })
    .version;

/**
 * Runs a command by adbind-cli; without that, says what installs it.
 * @param argv without node and the script
 */
export async function launch(argv: readonly string[]): Promise<void> {
  const found = commandsFrom(path.join(process.cwd(), "package.json")) ?? commandsFrom(import.meta.filename);
  if (found !== undefined) {
    await import(pathToFileURL(found).href);
    return;
  }
  const [first] = argv;
  if (first === "--version" || first === "-V") return console.log(ownVersion());
  if (first === "--help" || first === "-h" || first === "help") return console.log(HELP);
  const asked =
    first === undefined || first.startsWith("-") ? "adbind has no command" : `\`adbind ${first}\` is not here`;
  console.error(`adbind: ${asked}: commands come with adbind-cli, which is not installed: ${INSTALL}`);
  process.exitCode = 1;
}
