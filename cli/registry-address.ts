/** The public address of a registry, as commands beside it need it. */
import { type Command, Option } from "commander";
import { keptAddress } from "../runtime/registry/address.js";
import type { AnyStore } from "../runtime/store/index.js";

/** Where a registry is that was never told its address. */
const HERE = "http://localhost:8080";

export interface AddressOption {
  readonly baseUrl?: string;
}

/** What is given, else what the registry was served at last. */
export const addressOf = async ({ database }: AnyStore, { baseUrl }: AddressOption): Promise<string> =>
  baseUrl ?? (await keptAddress(database)) ?? HERE;

/** Adds `--base-url`. */
export const addressOption = (command: Command): Command =>
  command.addOption(
    new Option("--base-url <url>", "public address of the registry; default the one it was last served at").env(
      "ADBIND_REGISTRY_BASE_URL",
    ),
  );
