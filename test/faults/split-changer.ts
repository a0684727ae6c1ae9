/** The command that adds the last database of a split and removes it again, started again whenever it has ended or was killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { fromSource } from "../runner/from-source.js";
import { NAMES } from "../split/databases.js";

/** The command is killed this long after it was started, at most: some have ended by then, and did their work. */
const COMMAND_MS = 5_000;
/** Of the command's kills, how many are followed by a run to its end: what was stopped is to be ended as well. */
const ENDS = 0.4;

/** What is counted of it. */
export interface ChangerBooks {
  /** Kills of the command. */
  commandKills: number;
  /** Times that a database was added or removed to the end. */
  changes: number;
  /** What it said when it failed, and how often. */
  refused: Record<string, number>;
}

/** The databases by the names they have, as the command takes them. */
export const splitOf = (urls: readonly string[]): string => urls.map((url, at) => `${NAMES[at]}=${url}`).join(" ");

export class Changer {
  #adds = true;

  constructor(
    readonly urls: readonly string[],
    readonly by: "sender" | "principal",
    readonly books: ChangerBooks,
  ) {}

  async #run(lifeMs: number | undefined): Promise<void> {
    const { books, by } = this;
    const bin = fileURLToPath(new URL("../../cli/bin.ts", import.meta.url));
    const last = NAMES[this.urls.length - 1]!;
    const args = [...fromSource, bin, "split", this.#adds ? "add" : "remove", last, "--by", by];
    const env = { ...process.env, ADBIND_SPLIT: splitOf(this.urls) };
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"], env });
    let said = "";
    child.stderr!.on("data", (chunk) => {
      said += chunk;
    });
    const kill = (): void => {
      if (child.kill("SIGKILL")) books.commandKills += 1;
    };
    const timer = lifeMs === undefined ? undefined : setTimeout(kill, lifeMs);
    const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
    clearTimeout(timer);
    if (signal === "SIGKILL") return;
    if (code !== 0) {
      const text = `command: ${said.split("\n")[0]?.replace(/https:\S+|[0-9a-f-]{36}/g, "...")}`;
      books.refused[text] = (books.refused[text] ?? 0) + 1;
      return;
    }
    books.changes += 1;
    this.#adds = !this.#adds;
  }

  /** Runs to its end by itself. */
  async #finish(): Promise<void> {
    const before = this.books.changes;
    while (this.books.changes === before) await this.#run(undefined);
  }

  /** Kills it so many times, and has it end what it began. */
  async killed(times: number): Promise<void> {
    while (this.books.commandKills < times) {
      await this.#run(Math.random() * COMMAND_MS);
      if (Math.random() < ENDS) await this.#finish();
    }
    await this.#finish();
  }
}
