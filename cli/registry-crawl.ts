/** `adbind registry crawl`: fetches domains now, from this machine, and says what was found. */
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import {
  type Crawler,
  type CrawlerOptions,
  type CrawlRequestRecord,
  createCrawler,
} from "../runtime/registry/crawl/index.js";
import { createRegistryData } from "../runtime/registry/data.js";
import { publisherDomain } from "../runtime/registry/model.js";
import type { RegistryData } from "../runtime/registry/types.js";
import type { AnyStore } from "../runtime/store/index.js";
import { plural } from "./output.js";
import { type AddressOption, addressOf, addressOption } from "./registry-address.js";
import { registryStoreOption, type StoreOption, withStore } from "./store.js";

/** How often a crawl is asked whether it has ended, in milliseconds. */
const POLL_MS = 200;

const over = ({ status }: CrawlRequestRecord): boolean => status === "completed" || status === "failed";

const usage = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("usage", what, { where, remedy });

const refused = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("crawl_refused", what, { where, remedy });

async function order(crawler: Crawler, domain: string): Promise<string> {
  const answer = await crawler.request(domain, { requestedBy: "command", reason: "command" });
  if (!("refused" in answer)) return answer.crawl_request_id;
  switch (answer.refused) {
    case "unsafe":
      throw refused(
        "the domain has no public address",
        domain,
        "check its spelling, and that this machine resolves names",
      );
    case "opted_out":
      throw refused(
        "the domain's owner wants nothing fetched",
        domain,
        "adbind registry opt-out remove takes it up again",
      );
    case "queue_full":
    case "limited":
    case "debounced":
      throw refused("the domain cannot be crawled now", domain, `ask again in ${answer.retryAfterSeconds} s`);
  }
}

/** A first attempt is awaited; what may go better later stays with the queue. */
async function ended(crawler: Crawler, id: string): Promise<CrawlRequestRecord> {
  for (;;) {
    const record = await crawler.read(id);
    if (record === undefined) throw new Error(`request ${id} is gone`);
    if (over(record) || (record.status === "retrying" && record.attempts > 0)) return record;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function lines(data: RegistryData, { domain, status, error }: CrawlRequestRecord): Promise<string[]> {
  const found = await data.lookupPublisher(domain);
  const state = await data.crawlState(domain);
  const verdict = error === null ? status : `${status}: ${error}`;
  const agents = plural(found.authorized_agents.length, "agent");
  const properties = found.properties.length === 1 ? "1 property" : `${found.properties.length} properties`;
  const problems = (state?.problems ?? []).map(
    ({ effect, pointer, message, remedy }) =>
      `  ${effect === "left" ? "left out" : "noted"} ${pointer}: ${message}; ${remedy}`,
  );
  return [`${domain}  ${verdict}  ${agents}, ${properties}`, ...problems].map(printable);
}

/**
 * Crawls domains and reports each as it ends.
 * @returns whether every one ended, and none with something wrong
 */
export async function crawlNow(
  { crawler, data }: { crawler: Crawler; data: RegistryData },
  domains: readonly string[],
  say: (line: string) => void,
): Promise<boolean> {
  const ids: string[] = [];
  for (const domain of domains) ids.push(await order(crawler, domain));
  crawler.start();
  const records = await Promise.all(
    ids.map(async (id) => {
      const record = await ended(crawler, id);
      for (const line of await lines(data, record)) say(line);
      return record;
    }),
  );
  return records.every(({ status, error }) => status === "completed" && error === null);
}

/** What a command crawls with. A crawler that takes itself for another registry finds that nobody points to this one's hosted files. */
export async function commandCrawler(
  store: AnyStore,
  { net = {}, ...address }: AddressOption & { readonly net?: Pick<CrawlerOptions, "fetch" | "lookup"> },
): Promise<{ readonly crawler: Crawler; readonly data: RegistryData }> {
  const publicUrl = await addressOf(store, address);
  const data = createRegistryData(store, { publicUrl });
  // Who asks here has the machine: nobody is to be protected from asking often.
  const asked = { debounceMs: 0, perCallerHourly: Number.MAX_SAFE_INTEGER };
  return { crawler: await createCrawler({ store, data, publicUrl, ...asked, ...net }), data };
}

interface CrawlFlags extends StoreOption, AddressOption {
  readonly accept?: boolean;
}

async function crawl(given: readonly string[], options: CrawlFlags): Promise<void> {
  const domains = given.map((text) => {
    const domain = publisherDomain(text);
    if (domain === undefined) throw usage("that is no domain", text, "give one such as news.example");
    return domain;
  });
  await withStore(options, "create", async (store) => {
    const { crawler, data } = await commandCrawler(store, options);
    try {
      if (options.accept) for (const domain of domains) await crawler.accept(domain);
      if (!(await crawlNow({ crawler, data }, domains, (line) => console.log(line)))) process.exitCode = 1;
    } finally {
      await crawler.stop();
    }
  });
}

export function register(command: Command): void {
  addressOption(registryStoreOption(command.command("crawl <domain...>")))
    .description("fetches publishers' files now, from this machine; one that fails stays queued for another attempt")
    .option("--accept", "takes what is in quarantine of them: a changed authoritative location, or an older file")
    .action(crawl);
}
