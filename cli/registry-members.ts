/** `adbind registry members|agents`: who owns which domains, and which agents a search and an operator lookup show. */
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import { createRegistryData } from "../runtime/registry/data.js";
import { agentTypes } from "../runtime/registry/model.js";
import { tiers } from "../runtime/registry/server/auth/accounts.js";
import type { AgentType, Member, MemberAgent, RegistryData, Visibility } from "../runtime/registry/types.js";
import type { StoreAccess } from "../runtime/store/index.js";
import { plural, printJson } from "./output.js";
import { registryStoreOption, type StoreOption, withStore } from "./store.js";

const withData = (
  option: StoreOption,
  access: StoreAccess,
  job: (data: RegistryData) => Promise<void>,
): Promise<void> => withStore(option, access, (store) => job(createRegistryData(store)));

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

const noMember = (slug: string): AdbindError =>
  new AdbindError("account_invalid", `there is no member ${slug}`, { remedy: "see adbind registry members list" });

const types = [...agentTypes, "unknown"] as const satisfies readonly AgentType[];
const visibilities = ["public", "members_only", "private"] as const satisfies readonly Visibility[];

function oneOf<T extends string>(name: string, value: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw usage(`${value} is no ${name}`, `give one of ${choices.join(", ")}`);
  return found;
}

const list = (text: string | undefined): string[] =>
  (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

interface MemberOptions extends StoreOption {
  name?: string;
  org?: string;
  tier?: string;
  domains?: string;
  founding?: boolean;
  public?: boolean;
}

async function setMember(slug: string, given: MemberOptions): Promise<void> {
  if (given.tier !== undefined) oneOf("tier", given.tier, Object.keys(tiers));
  await withData(given, "create", async (data) => {
    const known = await data.member(slug);
    const member: Member = {
      slug,
      organization: given.org ?? known?.organization ?? null,
      displayName: given.name ?? known?.displayName ?? slug,
      tier: given.tier ?? known?.tier ?? null,
      founding: given.founding ?? known?.founding ?? false,
      isPublic: given.public ?? known?.isPublic ?? false,
      // Who has the store vouches for the domains.
      domains:
        given.domains === undefined
          ? (known?.domains ?? [])
          : list(given.domains).map((domain) => ({ domain, verified: true })),
      agents: known?.agents ?? [],
    };
    await data.putMember(member);
    console.log(`${slug}: ${plural(member.domains.length, "domain")}, ${plural(member.agents.length, "agent")}`);
  });
}

interface AgentOptions extends StoreOption {
  name?: string;
  type: string;
  visibility: string;
  deliveryTypes?: string;
  formatKinds?: string;
  trustedMatch?: boolean;
}

async function addAgent(slug: string, url: string, given: AgentOptions): Promise<void> {
  const agent: MemberAgent = {
    url,
    name: given.name ?? null,
    type: oneOf("type of agent", given.type, types),
    visibility: oneOf("visibility", given.visibility, visibilities),
    deliveryTypes: list(given.deliveryTypes),
    formatKinds: list(given.formatKinds),
    hasTmp: given.trustedMatch === true,
  };
  await withData(given, "change", async (data) => {
    if ((await data.member(slug)) === undefined) throw noMember(slug);
    await data.registerAgent(slug, agent);
  });
}

async function listMembers(options: StoreOption): Promise<void> {
  await withData(options, "read", async (data) => {
    const members = await data.members();
    if (options.json) return printJson(members);
    for (const { slug, displayName, organization, tier, domains, agents } of members) {
      const owned = domains.map(({ domain }) => domain).join(",");
      console.log([slug, displayName, organization ?? "-", tier ?? "-", owned].map(printable).join("  "));
      for (const { url, type, visibility } of agents) console.log(printable(`  ${url}  ${type}  ${visibility}`));
    }
  });
}

export function register(command: Command): void {
  const add = (parent: Command, name: string, help: string): Command =>
    registryStoreOption(parent.command(name).description(help));
  const members = command.command("members").description("profiles of members: set, list, remove");
  add(members, "set <slug>", "makes a member, or changes what is given")
    .option("--name <name>", "name for people")
    .option("--org <id>", "organization whose keys and users own it")
    .option("--tier <tier>", `tier that is shown: ${Object.keys(tiers).join(", ")}`)
    .option("--domains <list>", "domains it owns, comma-separated; they count as verified")
    .option("--founding", "it was there from the start")
    .option("--public", "show tier and founding to everyone")
    .option("--no-public", "show them to nobody")
    .action(setMember);
  add(members, "list", "members and their agents").option("--json", "as JSON").action(listMembers);
  add(members, "remove <slug>", "removes a member and what it registered").action(
    (slug: string, options: StoreOption) =>
      withData(options, "change", async (data) => {
        if (!(await data.removeMember(slug))) throw noMember(slug);
      }),
  );
  const agents = command.command("agents").description("agents of members: add");
  add(agents, "add <slug> <url>", "registers an agent of a member, or changes it")
    .option("--name <name>", "name for people")
    .option("--type <type>", types.join(", "), "sales")
    .option("--visibility <level>", visibilities.join(", "), "public")
    .option("--delivery-types <list>", "delivery types, comma-separated")
    .option("--format-kinds <list>", "kinds of creative format, comma-separated")
    .option("--trusted-match", "it supports trusted match")
    .action(addAgent);
}
