/** `adbind registry hosted`: files that a registry serves for publishers who cannot serve their own. */
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { parseStrict } from "../runtime/json.js";
import { printable } from "../runtime/printable.js";
import { readAuthorizationFile } from "../runtime/registry/crawl/index.js";
import { createRegistryData } from "../runtime/registry/data.js";
import { hostedUrl, publisherDomain } from "../runtime/registry/model.js";
import type { JsonValue, RegistryData } from "../runtime/registry/types.js";
import type { StoreAccess } from "../runtime/store/index.js";
import { plural } from "./output.js";
import { type AddressOption, addressOf, addressOption } from "./registry-address.js";
import { registryStoreOption, type StoreOption, withStore } from "./store.js";
import { readUserFile } from "./user-file.js";

const withData = (
  option: StoreOption,
  access: StoreAccess,
  job: (data: RegistryData) => Promise<void>,
): Promise<void> => withStore(option, access, (store) => job(createRegistryData(store)));

const usage = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("usage", what, { where, remedy });

const unusable = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("file_unusable", what, { where, remedy });

function domainOf(text: string): string {
  const domain = publisherDomain(text);
  if (domain === undefined) throw usage("that is no domain", text, "give one such as news.example");
  return domain;
}

async function put(given: string, file: string, options: StoreOption & AddressOption): Promise<void> {
  const domain = domainOf(given);
  const parsed = parseStrict(readUserFile(file));
  if (!parsed.ok) throw unusable("the file is no JSON", file, parsed.detail);
  if (typeof parsed.value !== "object" || parsed.value === null || Array.isArray(parsed.value))
    throw unusable("the file is no JSON object", file, "give an agent-authorization file");
  const read = readAuthorizationFile(parsed.value as never, { domain, via: "own", revoked: [], now: Date.now() });
  for (const { pointer, message, remedy } of read.problems)
    console.error(printable(`${pointer}: ${message}; ${remedy}`));
  if (!read.ok) throw unusable("the file is not valid", file, read.problems[0].remedy);
  // Who reads it elsewhere may refuse all of it for one bad entry.
  if (read.problems.length > 0) throw unusable("the file has entries that cannot be used", file, "correct them");
  await withStore(options, "create", async (store) => {
    const place = hostedUrl(await addressOf(store, options), domain);
    await createRegistryData(store).putHostedFile(domain, { file: parsed.value as JsonValue, content: read.file });
    console.log(`${domain}: ${plural(read.file.agents.length, "agent")}, served at ${place}`);
    console.log(`the publisher points there with {"authoritative_location": "${place}"}`);
  });
}

export function register(command: Command): void {
  const hosted = command.command("hosted").description("files served for publishers: put, remove");
  addressOption(registryStoreOption(hosted.command("put <domain> <file>")))
    .description("checks a file and serves it; its word counts fully once the publisher's origin points here")
    .action(put);
  registryStoreOption(hosted.command("remove <domain>"))
    .description("serves it no more")
    .action((given: string, options: StoreOption) =>
      withData(options, "change", async (data) => {
        if (!(await data.removeHostedFile(domainOf(given))))
          throw new AdbindError("registry_data_invalid", "no file is hosted for it", {
            where: given,
            remedy: "nothing to do",
          });
      }),
    );
}
