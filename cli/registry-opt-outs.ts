/** `adbind registry opt-out`: domains whose owners want nothing fetched or told of them. */
import type { Command } from "commander";
import { printable } from "../runtime/printable.js";
import { createRegistryData } from "../runtime/registry/data.js";
import type { RegistryData } from "../runtime/registry/types.js";
import type { StoreAccess } from "../runtime/store/index.js";
import { plural } from "./output.js";
import { registryStoreOption, type StoreOption, withStore } from "./store.js";

const withData = (
  option: StoreOption,
  access: StoreAccess,
  job: (data: RegistryData) => Promise<void>,
): Promise<void> => withStore(option, access, (store) => job(createRegistryData(store)));

const add = (domain: string, options: StoreOption): Promise<void> =>
  withData(options, "create", async (data) => {
    const ended = await data.optOut(domain);
    console.log(printable(`${domain}: nothing is fetched any more; ${plural(ended.length, "publisher")} ended`));
  });

const remove = (domain: string, options: StoreOption): Promise<void> =>
  withData(options, "change", async (data) => {
    const known = await data.optIn(domain);
    console.log(
      printable(known ? `${domain}: it is fetched again when somebody asks` : `${domain}: it had not opted out`),
    );
  });

const list = (options: StoreOption): Promise<void> =>
  withData(options, "read", async (data) => {
    for (const { domain, since } of await data.optedOut()) console.log(printable(`${domain}  since ${since}`));
  });

export function register(command: Command): void {
  const optOut = command.command("opt-out").description("domains whose owners want nothing fetched: add, remove, list");
  registryStoreOption(optOut.command("add <domain>"))
    .description("ends what is known of a domain and those under it, and fetches nothing of them any more")
    .action(add);
  registryStoreOption(optOut.command("remove <domain>")).description("takes the domain up again").action(remove);
  registryStoreOption(optOut.command("list")).description("prints them").action(list);
}
