/** `adbind outbox serve`: the operators' pages, on this machine; to others only with a token. */
import { readFileSync } from "node:fs";
import { type AddressInfo, isIP } from "node:net";
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { commandFailureOf } from "./failure.js";
import { listenAt, portNumber } from "./listening.js";
import { createOutboxServer } from "./outbox-server.js";
import { outboxCommand, withOutbox } from "./outbox-store.js";
import { userPath } from "./output.js";
import type { StoreOption } from "./store.js";

interface ServeOptions extends StoreOption {
  host: string;
  port: string;
  tokenFile?: string;
}

/** Characters of a token, at least: nobody counts who guesses. */
const TOKEN_CHARACTERS = 24;

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

/** @throws AdbindError `usage` where there has to be one, or it is short */
function tokenOf({ host, tokenFile }: ServeOptions): string | undefined {
  const token = tokenFile === undefined ? process.env.ADBIND_OUTBOX_TOKEN : read(userPath(tokenFile));
  if (token === undefined || token === "") {
    if (isLoopback(host)) return undefined;
    throw new AdbindError("usage", `${host} is open to other machines`, {
      remedy: "give --token-file <file> or ADBIND_OUTBOX_TOKEN, or leave --host out",
    });
  }
  if (token.length >= TOKEN_CHARACTERS) return token;
  throw new AdbindError("usage", "the token is too short", { remedy: `use ${TOKEN_CHARACTERS} characters or more` });
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new AdbindError("file_unusable", "the token cannot be read", { where: file, cause });
  }
}

async function serve(options: ServeOptions): Promise<void> {
  const token = tokenOf(options);
  const { host } = options;
  const port = portNumber(options.port);
  await withOutbox(options, "change", async (outbox) => {
    // Without a token a page of somebody else's must not reach it by a name that leads here.
    const own = () => {
      const { port: at } = server.address() as AddressInfo;
      return [host, "localhost", "127.0.0.1", "[::1]"].map((name) => `${name}:${at}`);
    };
    const onFault = (error: unknown) => console.error(`adbind: ${commandFailureOf(error).message}`);
    const server = createOutboxServer({ outbox, token, onFault, ...(token === undefined && { hosts: own }) });
    console.log(`outbox on ${await listenAt(server, host, port)}/`);
    const close = () => {
      server.close();
      server.closeIdleConnections();
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, close);
    await new Promise<void>((resolve) => server.once("close", resolve));
  });
}

export const register = (command: Command): void => {
  outboxCommand(command, "serve", "pages for operators: endpoints, events, attempts; pause, resume, replay")
    .option("--host <address>", "where it listens; anything but this machine wants a token", "127.0.0.1")
    .option("--port <number>", "0 picks one", "8788")
    .option("--token-file <file>", "a token that is asked for; or ADBIND_OUTBOX_TOKEN")
    .addHelpText("after", "\nTo other machines: behind TLS only, the token travels as it is.")
    .action(serve);
};
