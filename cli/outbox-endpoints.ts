/** `adbind outbox endpoints`, `pause`, `resume`: where events go, and what is left alone. */
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import { principalPart } from "../runtime/sender/endpoint-names.js";
import type { EndpointEntry, Outbox } from "../runtime/sender/operators.js";
import {
  type ConfirmOptions,
  countOf,
  endpointPages,
  LIST_LIMIT,
  mayChange,
  named,
  originOf,
  outboxCommand,
  shownAt,
  tellOfMore,
  withOutbox,
  yesOption,
} from "./outbox-store.js";
import { plural, printJson } from "./output.js";
import type { StoreOption } from "./store.js";

const endpointLine = ({ endpoint, state, waiting, principal, url, restsUntil, error }: EndpointEntry): string =>
  [
    state.padEnd(7),
    `${waiting} waiting`.padStart(14),
    principal.padEnd(16),
    url.padEnd(40),
    restsUntil === null ? "" : `until ${shownAt(restsUntil)}`,
    error ?? "",
    endpoint,
  ]
    .filter((part) => part !== "")
    .map(printable)
    .join(" ");

interface PageOptions extends StoreOption {
  after?: string;
  limit: string;
}

async function endpoints({ after, limit, json, ...option }: PageOptions): Promise<void> {
  const most = countOf(limit);
  await withOutbox(option, "read", async (outbox) => {
    const found: EndpointEntry[] = [];
    for await (const page of endpointPages(outbox, after, most)) found.push(...page);
    const shownEndpoint = ({ restsUntil, failingSince, ...entry }: EndpointEntry) => ({
      ...entry,
      restsUntil: shownAt(restsUntil),
      failingSince: shownAt(failingSince),
    });
    if (json) return printJson({ endpoints: found.map(shownEndpoint) });
    for (const entry of found) console.log(endpointLine(entry));
    console.log(plural(found.length, "endpoint"));
    if (found.length === most) tellOfMore(most, "endpoint", JSON.stringify(printable(found.at(-1)!.endpoint)));
  });
}

interface EndpointsMeant extends StoreOption, ConfirmOptions {
  readonly principal?: string;
  readonly destination?: string;
}

/** Names that were given, or those of every endpoint that is meant. */
async function endpointsMeant(outbox: Outbox, names: readonly string[], meant: EndpointsMeant): Promise<string[]> {
  const { destination } = meant;
  const principal = meant.principal === undefined ? undefined : named("--principal", meant.principal);
  if (names.length > 0) return [...names];
  if (principal === undefined && destination === undefined)
    throw new AdbindError("usage", "no endpoint is named", { remedy: "name some, or give --principal, --destination" });
  const origin = destination === undefined ? undefined : originOf(destination);
  const found: string[] = [];
  for await (const page of endpointPages(outbox)) {
    const fits = page.filter(
      (one) =>
        (principal === undefined || one.endpoint.includes(principalPart(principal))) &&
        (origin === undefined || one.endpoint.startsWith(`${origin} `)),
    );
    found.push(...fits.map(({ endpoint }) => endpoint));
  }
  if (found.length === 0) tellOfNone();
  return found;
}

/** Who mistyped whom he means would take his endpoints for paused, or resumed. */
function tellOfNone(): void {
  console.error("no endpoint is meant by that: adbind outbox endpoints names those there are");
  process.exitCode = 1;
}

/** False where there is none, which is said. */
async function pauseOne(outbox: Outbox, name: string, ahead: boolean): Promise<boolean> {
  try {
    await outbox.pause(name, { ahead });
    return true;
  } catch (error) {
    if (!(error instanceof AdbindError) || error.code !== "endpoint_unknown") throw error;
    console.error(printable(error.message));
    process.exitCode = 1;
    return false;
  }
}

async function pause(names: readonly string[], option: EndpointsMeant & { readonly ahead?: boolean }): Promise<void> {
  await withOutbox(option, "change", async (outbox) => {
    const all = await endpointsMeant(outbox, names, option);
    if (!(await mayChange(all.length, "endpoint", "paused", option))) return;
    const paused: string[] = [];
    for (const name of all) {
      if (!(await pauseOne(outbox, name, option.ahead ?? false))) continue;
      paused.push(name);
      if (!option.json) console.log(printable(`${name} is left alone until adbind outbox resume; its events stay`));
    }
    if (option.json) printJson({ paused });
  });
}

async function resume(names: readonly string[], option: EndpointsMeant): Promise<void> {
  await withOutbox(option, "change", async (outbox) => {
    const all = await endpointsMeant(outbox, names, option);
    if (!(await mayChange(all.length, "endpoint", "resumed", option))) return;
    const resumed: string[] = [];
    for (const name of all) {
      if (await outbox.resume(name)) resumed.push(name);
      else {
        console.error(printable(`${name} was not paused: adbind outbox endpoints names those there are`));
        process.exitCode = 1;
      }
    }
    if (option.json) return printJson({ resumed });
    for (const name of resumed) console.log(printable(`${name} is delivered to again, within a minute`));
  });
}

export function registerEndpoints(command: Command): void {
  const add = (usage: string, description: string): Command => outboxCommand(command, usage, description);
  add("endpoints", "where events go: how each endpoint is, what waits for it, and why it last failed")
    .option("--after <endpoint>", "endpoints after this one")
    .option("--limit <count>", "most endpoints", LIST_LIMIT)
    .option("--json", "as JSON")
    .action(endpoints);
  for (const [usage, description, action] of [
    ["pause", "leaves endpoints alone; their events stay", pause],
    ["resume", "ends a pause", resume],
  ] as const) {
    const one = yesOption(add(usage, description))
      .argument("[endpoint...]", "as adbind outbox endpoints names them; or say which")
      .option("--principal <principal>", "those of one principal that events wait for, fail or are paused")
      .option("--destination <origin>", "those of one host")
      .option("--json", "as JSON")
      .action(action);
    if (action === pause) one.option("--ahead", "one that nothing is known of yet, too: for what will be registered");
  }
}
