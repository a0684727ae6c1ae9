/** How the commands that look into a store are told which. */
import { type Command, Option } from "commander";
import { userPath } from "./output.js";

/** Files are named from where the user stands. */
export const placeOf = (store: string): string =>
  store.startsWith("sqlite:") ? `sqlite:${userPath(store.slice("sqlite:".length))}` : store;

/** Adds `--store`; from the environment a password is in nobody's list of processes. */
export const storeOption = (command: Command): Command =>
  command.addOption(
    new Option("--store <url>", "sqlite:<path> or postgres://user@host/database")
      .env("ADBIND_STORE")
      .makeOptionMandatory(),
  );
