/** `adbind registry orgs|users|keys`: who may use a registry. */
import { randomBytes } from "node:crypto";
import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import { type Accounts, accountsOf, subscriptions, tiers } from "../runtime/registry/server/auth/accounts.js";
import { registryAccess, type StoreAccess } from "../runtime/store/index.js";
import { printJson } from "./output.js";
import { registryStoreOption, type StoreOption, withStore } from "./store.js";

const withAccounts = (
  option: StoreOption,
  access: StoreAccess,
  job: (accounts: Accounts) => Promise<void>,
): Promise<void> => withStore(option, access, (store) => job(accountsOf(registryAccess(store.database))));

const line = (...parts: (string | null)[]): void =>
  console.log(
    parts
      .map((part) => printable(part ?? "-"))
      .join("  ")
      .trimEnd(),
  );
const day = (ms: number | null): string => (ms === null ? "never" : new Date(ms).toISOString().slice(0, 19) + "Z");

const missing = (what: string): AdbindError =>
  new AdbindError("account_invalid", `there is no ${what}`, { remedy: "see the list" });

const group = (command: Command, name: string, help: string) => {
  const parent = command.command(name).description(help);
  return (usage: string, description: string): Command =>
    registryStoreOption(parent.command(usage).description(description));
};

function registerOrganizations(command: Command): void {
  const add = group(command, "orgs", "organizations: create, list, set");
  const tierHelp = `one of ${Object.keys(tiers).join(", ")}`;
  const subscriptionHelp = `one of ${subscriptions.join(", ")}`;
  add("create <name>", "makes an organization and prints its id")
    .option("--id <id>", "its id; default a random one")
    .option("--tier <tier>", tierHelp)
    .option("--subscription <state>", subscriptionHelp)
    .action((name: string, { store, ...given }) =>
      withAccounts({ store }, "create", async (accounts) =>
        console.log((await accounts.addOrganization({ ...given, name })).id),
      ),
    );
  add("list", "organizations")
    .option("--json", "as JSON")
    .action((options: StoreOption) =>
      withAccounts(options, "read", async (accounts) => {
        const rows = await accounts.organizations();
        if (options.json) return printJson(rows);
        for (const row of rows)
          line(row.id, row.name, row.tier, row.subscription, row.suspended === 0 ? "" : "suspended");
      }),
    );
  add("set <id>", "changes an organization")
    .option("--name <name>", "name for people")
    .option("--tier <tier>", `${tierHelp}, or none`)
    .option("--subscription <state>", subscriptionHelp)
    .option("--suspend", "refuses its keys and users from now on")
    .option("--restore", "takes them again")
    .action((id: string, { name, tier, subscription, suspend, restore, ...options }) =>
      withAccounts(options, "change", (accounts) =>
        accounts.setOrganization(id, {
          ...(name !== undefined && { name }),
          ...(tier !== undefined && { tier: tier === "none" ? null : tier }),
          ...(subscription !== undefined && { subscription }),
          ...((suspend || restore) && { suspended: suspend === true }),
        }),
      ),
    );
}

/** 144 bits, as 24 characters. */
const makePassword = (): string => randomBytes(18).toString("base64url");

/** Never from the command line, which everybody on the machine can read. */
async function passwordFrom(stdin: boolean | undefined): Promise<{ password: string; made: boolean }> {
  if (!stdin) return { password: makePassword(), made: true };
  return { password: (await readAll(process.stdin)).replace(/\r?\n$/, ""), made: false };
}

function registerUsers(command: Command): void {
  const add = group(command, "users", "people who log in: create, list, set");
  add("create <email>", "makes an account; without --password-stdin a password is made and printed, once")
    .option("--name <name>", "name for people")
    .option("--org <id>", "organization the user belongs to")
    .option("--password-stdin", "reads the password from the input")
    .action((email: string, { name, org, passwordStdin, ...options }) =>
      withAccounts(options, "create", async (accounts) => {
        const { password, made } = await passwordFrom(passwordStdin);
        const user = await accounts.addUser({
          email,
          password,
          ...(name !== undefined && { name }),
          ...(org !== undefined && { organization: org }),
        });
        line(user.id, user.email);
        if (made) console.log(`password: ${password}`);
      }),
    );
  add("list", "accounts")
    .option("--json", "as JSON")
    .action((options: StoreOption) =>
      withAccounts(options, "read", async (accounts) => {
        const rows = await accounts.users();
        if (options.json) return printJson(rows);
        for (const row of rows) line(row.email, row.name, row.organization, row.suspended === 0 ? "" : "suspended");
      }),
    );
  add("set <email>", "changes an account")
    .option("--org <id>", "organization the user belongs to")
    .option("--password-stdin", "reads a new password from the input; log-ins and tokens of before end")
    .option("--suspend", "refuses the user from now on")
    .option("--restore", "takes the user again")
    .action((email: string, { org, passwordStdin, suspend, restore, ...options }) =>
      withAccounts(options, "change", async (accounts) =>
        accounts.setUser(email, {
          ...(org !== undefined && { organization: org }),
          ...(passwordStdin && { password: (await passwordFrom(true)).password }),
          ...((suspend || restore) && { suspended: suspend === true }),
        }),
      ),
    );
}

function registerKeys(command: Command): void {
  const add = group(command, "keys", "API keys of organizations: create, list, revoke, suspend, restore");
  add("create <organization> <name>", "makes a key and prints it: it is not kept and cannot be shown again").action(
    (organization: string, name: string, options: StoreOption) =>
      withAccounts(options, "change", async (accounts) => {
        const { id, key } = await accounts.addKey(organization, name);
        console.log(key);
        console.error(`key ${id} of ${printable(organization)}; keep it now, only its digest is stored`);
      }),
  );
  add("list", "keys, by their first characters")
    .option("--org <id>", "only those of one organization")
    .option("--json", "as JSON")
    .action(({ org, ...options }: StoreOption & { org?: string }) =>
      withAccounts(options, "read", async (accounts) => {
        const rows = await accounts.keys(org);
        if (options.json) return printJson(rows);
        for (const row of rows) {
          const state = row.revoked !== null ? "revoked" : row.suspended !== 0 ? "suspended" : "";
          line(row.id, `${row.shown}...`, row.organization, row.name, `used ${day(row.last_used)}`, state);
        }
      }),
    );
  add("revoke <id>", "ends a key for good").action((id: string, options: StoreOption) =>
    withAccounts(options, "change", async (accounts) => {
      if (!(await accounts.revokeKey(id))) throw missing(`key ${id} that could be revoked`);
    }),
  );
  for (const [name, suspended] of [
    ["suspend", true],
    ["restore", false],
  ] as const) {
    add(`${name} <id>`, suspended ? "refuses a key for a while" : "takes a suspended key again").action(
      (id: string, options: StoreOption) =>
        withAccounts(options, "change", async (accounts) => {
          if (!(await accounts.suspendKey(id, suspended))) throw missing(`key ${id}`);
        }),
    );
  }
}

export function register(command: Command): void {
  registerOrganizations(command);
  registerUsers(command);
  registerKeys(command);
}
