/** `adbind call`: one tool of an agent, from the terminal. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { type Failure, isJsonObject, isTerminal, type JsonObject } from "../runtime/contract/index.js";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import { type AgentOptions, agentHelp, connectAgent, withAgentOptions } from "./agent/connect.js";
import { dataLines, redacted } from "./agent/table.js";
import { exitCodes, type Interrupted } from "./failure.js";
import { interruption } from "./interrupt.js";
import { printJson } from "./output.js";
import { readUserFile } from "./user-file.js";

interface Options extends AgentOptions {
  /** A file, or true where the flag stands alone. */
  json?: string | true;
  output?: string;
  key?: string;
  wait?: boolean;
}

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

/** The request: of a file, of standard input (`-`), or none. @throws AdbindError */
function requestFrom(file: string | true | undefined): JsonObject {
  if (file === undefined || file === true) return {};
  // A file's name does not begin like an object; whoever tries a tool types the request.
  const text = /^\s*\{/.test(file) ? file : file === "-" ? readFileSync(0, "utf8") : readUserFile(file).toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : "it cannot be read";
    throw new AdbindError("file_unusable", `the request is no JSON: ${why}`, { where: file, remedy: "correct it" });
  }
  if (isJsonObject(value)) return value;
  throw new AdbindError("file_unusable", "the request is no object", { where: file, remedy: "give {...}" });
}

type CallResult = Awaited<ReturnType<Awaited<ReturnType<typeof connectAgent>>["buyer"]["call"]>>;

function print(called: CallResult, answer: CallResult["answer"], tookMs: number): void {
  const { tool, release, attempts, idempotencyKey, replayed } = called;
  const facts = [
    `${answer.status}`,
    `release ${release}`,
    ...(attempts < 2 ? [] : [`${attempts} attempts`]),
    ...(replayed ? ["replayed"] : []),
    `${tookMs} ms`,
  ];
  console.log(`${tool}: ${facts.join(", ")}`);
  if (answer.taskId !== undefined) console.log(`task: ${printable(answer.taskId)}`);
  if (idempotencyKey !== undefined) console.log(`key: ${printable(idempotencyKey)}  (--key repeats this very call)`);
  if (answer.message !== undefined) console.log(`message: ${printable(answer.message)}`);
  if (answer.status !== "failed" && answer.status !== "rejected") {
    const { status: _s, message: _m, task_id: _t, idempotency_key: _k, ...data } = (answer.data ?? {}) as JsonObject;
    for (const line of dataLines(data)) console.log(line);
    return;
  }
  for (const { code, message, field, suggestion, recovery, details } of (answer.data as Failure).errors) {
    console.log(`${printable(code)}${recovery === undefined ? "" : ` (${recovery})`}: ${printable(message)}`);
    if (field !== undefined) console.log(`  field: ${printable(field)}`);
    if (suggestion !== undefined) console.log(`  do: ${printable(suggestion)}`);
    if (details !== undefined) for (const line of dataLines(details)) console.log(`  ${line}`);
  }
}

/** What a task came to, or where it was when nobody waited any more. */
async function endOf(called: CallResult, signal: AbortSignal): Promise<CallResult["answer"]> {
  try {
    return await called.waitForCompletion({ signal });
  } catch (error) {
    if (signal.aborted) return called.answer;
    throw error;
  }
}

async function run(agent: string, tool: string, options: Options): Promise<void> {
  if (options.output !== undefined && !["json", "table"].includes(options.output))
    throw usage(`there is no output ${options.output}`, "give json or table");
  const request = requestFrom(options.json);
  const keyed = options.key === undefined ? request : { ...request, idempotency_key: options.key };
  const { buyer, url } = await connectAgent(agent, options);
  const began = performance.now();
  // Whoever ends a call that may be carried out all the same needs its key, and the task it waited for.
  const { signal, heed } = interruption();
  heed();
  try {
    const called = await buyer.call(tool, keyed, { signal });
    const answer = options.wait ? await endOf(called, signal) : called.answer;
    const tookMs = Math.round(performance.now() - began);
    if (options.json === true || options.output === "json") {
      const { release, attempts, idempotencyKey, replayed, recovery } = called;
      const facts = { agent: url, tool, release, attempts, idempotencyKey, replayed, recovery, tookMs };
      printJson({
        ok: answer.status === "completed" || !isTerminal(answer.status),
        ...facts,
        answer: redacted(answer),
      });
    } else print(called, answer, tookMs);
    if (isTerminal(answer.status) && answer.status !== "completed") process.exitCode = exitCodes.failed;
    if (signal.aborted) process.exitCode = exitCodes[(signal.reason as Interrupted).signal];
  } finally {
    await buyer.close();
  }
}

export function register(command: Command): void {
  withAgentOptions(command)
    .argument("<agent>", "a URL, or the name of an agent")
    .argument("<tool>", "name of the tool on the wire, e.g. get_products")
    .option(
      "--json [file]",
      "the request's arguments: a file, - for standard input, or {...} itself; alone: print JSON",
    )
    .option("--output <how>", "table or json")
    .option("--key <key>", "idempotency key: the same one repeats the same call")
    .option("--wait", "wait until a task has ended")
    .addHelpText(
      "after",
      `${agentHelp}

The buyer adds an idempotency key and the release's name; secrets in answers are not shown. Exit code: 0 the call was answered, 1 it
failed, 2 the command line is wrong. A call that is interrupted may be carried out all the same: its key and its task are printed.

Example: adbind call https://seller.example/mcp get_products --json request.json`,
    )
    .action((agent: string, tool: string, options: Options) => run(agent, tool, options));
}
