/** The one PostgreSQL of a test run: the runner starts it when the first test file asks, over the channel they share. */
import type { ChildProcess } from "node:child_process";
import { startedByRunner } from "./test-file.js";

/** A server that is up. */
interface Started {
  readonly url: string;
  stop(): Promise<void>;
}

interface Asked {
  readonly adbind: "postgres";
}

type PostgresAnswer = Asked & ({ readonly url: string } | { readonly error: string });

const isAsked = (message: unknown): message is Asked =>
  typeof message === "object" && message !== null && "adbind" in message && message.adbind === "postgres";

async function ask(): Promise<string> {
  const answered = new Promise<PostgresAnswer>((resolve) => {
    process.on("message", (message) => {
      if (isAsked(message)) resolve(message as PostgresAnswer);
    });
  });
  // Nothing else may keep the process alive until the answer has come.
  process.channel!.ref();
  process.send!({ adbind: "postgres" } satisfies Asked);
  const told = await answered;
  process.channel!.unref();
  if ("error" in told) throw new Error(`the run's PostgreSQL does not start: ${told.error}`);
  return told.url;
}

let asked: Promise<string> | undefined;

/** In a test file. @returns URL of the run's server; undefined where no runner started this file */
export async function serverOfRun(): Promise<string | undefined> {
  if (asked === undefined && (!startedByRunner() || process.send === undefined)) return undefined;
  asked ??= ask();
  return asked;
}

/** In the runner. */
export class PostgresOfRun {
  #server: Promise<Started> | undefined;

  constructor(private readonly start: () => Promise<Started>) {}

  /** Answers a test file that asks. */
  serve(child: ChildProcess): void {
    child.on("message", (message) => {
      if (!isAsked(message)) return;
      const tell = (told: PostgresAnswer): void => {
        // The file may be gone by then.
        if (child.connected) child.send(told, () => undefined);
      };
      this.#server ??= this.start();
      this.#server.then(
        ({ url }) => tell({ adbind: "postgres", url }),
        (error: unknown) => tell({ adbind: "postgres", error: String(error) }),
      );
    });
  }

  async stop(): Promise<void> {
    const server = await this.#server?.catch(() => undefined);
    await server?.stop();
  }
}
