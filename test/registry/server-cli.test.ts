/** The commands beside the server: who may use it, who is a member, and what is said when something is off. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Command } from "commander";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/registry.js";
import { AdbindError } from "../../runtime/errors.js";
import { issuerKeys } from "../../runtime/registry/server/auth/issuer-keys.js";
import { openSqliteStore, registryAccess } from "../../runtime/store/index.js";
import { fromSource } from "../runner/from-source.js";
import { whole } from "./crawl-fixture.js";
import { bearer, setupRegistry } from "./server-fixture.js";
import { crawlOf, SELLER } from "./server-world.js";

const root = path.resolve(import.meta.dirname, "../..");
const cli = suite("adbind registry");
const folder = mkdtempSync(path.join(tmpdir(), "adbind-cli-"));
cli.after(() => rmSync(folder, { recursive: true, force: true }));

interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

/** The command as it is started, where it reads its input. */
const spawned = (args: readonly string[], input: string): Outcome => {
  const flags = [...fromSource, path.join(root, "cli/main.ts"), "registry"];
  const env = { ...process.env, ADBIND_CWD: folder };
  return spawnSync(process.execPath, [...flags, ...args], { cwd: root, env, encoding: "utf8", input });
};

/** The command in this process, which is where most of the time of starting it goes otherwise. */
async function run(args: readonly string[]): Promise<Outcome> {
  const lines: Record<"log" | "error", string[]> = { log: [], error: [] };
  const { log, error } = console;
  process.env.ADBIND_CWD = folder;
  console.log = (text: string) => void lines.log.push(text);
  console.error = (text: string) => void lines.error.push(text);
  let status = 0;
  try {
    const command = new Command("registry").exitOverride();
    register(command);
    await command.parseAsync([...args], { from: "user" });
  } catch (thrown) {
    if (!(thrown instanceof AdbindError)) throw thrown;
    lines.error.push(thrown.message);
    status = thrown.code === "usage" ? 2 : 1;
  } finally {
    Object.assign(console, { log, error });
  }
  return { stdout: lines.log.join("\n"), stderr: lines.error.join("\n"), status };
}

cli("the issuer's key is changed, and changed at once where it leaked", async () => {
  const kids = async (): Promise<string[]> => {
    const keys = JSON.parse((await run(["issuer", "keys", "--json"])).stdout) as { kid: string; state: string }[];
    return keys.map(({ kid, state }) => `${kid} ${state.replace(/\d{4}-\S+Z/, "T")}`);
  };
  // As a registry does when it starts; to list them makes none.
  const store = openSqliteStore({ path: path.join(folder, "registry.db") });
  assert.equal(await kids(), []);
  await issuerKeys(registryAccess(store.database), Date.now());
  await store.close();
  const [first] = (await kids())[0]!.split(" ");
  const rotated = (await run(["issuer", "rotate"])).stdout;
  assert.match(rotated, /^\S+ {2}signs from \S+Z$/);
  const [second] = rotated.split(" ");
  assert.equal(await kids(), [`${first} signs, and verifies until T`, `${second} signs from T`]);
  const [third] = (await run(["issuer", "rotate", "--revoke"])).stdout.split(" ");
  assert.equal((await run(["issuer", "keys"])).stdout, `${third}  signs`);
});

cli("from nothing to a search that finds an agent, and to a key that no longer works", async () => {
  const org = (await run(["orgs", "create", "Acme", "--tier", "company_standard"])).stdout;
  const key = await run(["keys", "create", org, "server"]);
  assert.match(key.stdout, /^sk_[\w-]{43}$/);
  const shown = key.stdout;
  assert.is(
    (await run(["members", "set", "acme", "--org", org, "--domains", "seller.example"])).stdout,
    "acme: 1 domain, 0 agents",
  );
  assert.is((await run(["agents", "add", "acme", SELLER, "--format-kinds", "video,display"])).status, 0);

  const store = openSqliteStore({ path: path.join(folder, "registry.db") });
  const text = JSON.stringify(store.db.prepare("select * from adbind_api_keys").all());
  assert.not(text.includes(shown), "the key itself is not kept");
  const setup = await setupRegistry({ store, now: Date.now });
  await setup.registry.data.applyCrawl(
    crawlOf("news.example", [{ agentUrl: SELLER, authorizedFor: "x", authorizationType: null }], []),
  );
  const search = () => setup.registry.app.inject({ url: "/api/registry/agents/search", headers: bearer(shown) });
  assert.equal(
    (await search()).json().results.map(({ format_kinds }: { format_kinds: string[] }) => format_kinds),
    [["display", "video"]],
  );

  const [listed] = JSON.parse((await run(["keys", "list", "--json"])).stdout);
  assert.is(listed.shown, shown.slice(0, 11));
  assert.is(listed.hash, undefined);
  assert.is((await run(["keys", "suspend", listed.id])).status, 0);
  assert.is((await search()).statusCode, 403);
  assert.is((await run(["keys", "restore", listed.id])).status, 0);
  assert.is((await run(["keys", "revoke", listed.id])).status, 0);
  assert.is((await search()).statusCode, 401, "a running server knows at once");
  assert.is((await run(["keys", "revoke", listed.id])).status, 1);
  await setup.close();
  await store.close();
});

cli("a publisher's file is checked, served, and taken back", async () => {
  const file = path.join(folder, "file.json");
  const good = { authorized_agents: [whole("hosted.example", "https://seller.example/mcp")] };
  writeFileSync(file, JSON.stringify({ authorized_agents: [...good.authorized_agents, { url: "ftp://x" }] }));
  const refused = await run(["hosted", "put", "hosted.example", "file.json"]);
  assert.match(refused.stderr, "/authorized_agents/1");
  assert.match(refused.stderr, "entries that cannot be used");
  writeFileSync(file, JSON.stringify(good));
  const put = await run(["hosted", "put", "hosted.example", "file.json", "--base-url", "https://registry.example"]);
  assert.is(put.status, 0, put.stderr);
  const place = "https://registry.example/publisher/hosted.example/.well-known/adagents.json";
  assert.match(put.stdout, `{"authoritative_location": "${place}"}`);
  const store = openSqliteStore({ path: path.join(folder, "registry.db") });
  const setup = await setupRegistry({ store });
  const served = () => setup.registry.app.inject("/publisher/hosted.example/.well-known/adagents.json");
  assert.equal((await served()).json(), good);
  assert.is((await run(["hosted", "remove", "hosted.example"])).status, 0);
  assert.is((await served()).statusCode, 404);
  await setup.close();
  await store.close();
  writeFileSync(file, "[]");
  assert.match((await run(["hosted", "put", "hosted.example", "file.json"])).stderr, "no JSON object");
});

cli("a password is read from the input or made, and is never kept", async () => {
  const made = await run(["users", "create", "ada@buyer.example"]);
  assert.match(made.stdout, /password: [\w-]{24}$/);
  assert.is(spawned(["users", "create", "bob@buyer.example", "--password-stdin"], "correct horse battery\n").status, 0);
  const short = spawned(["users", "create", "eve@buyer.example", "--password-stdin"], "short\n");
  assert.is(short.status, 1);
  assert.match(short.stderr, "give 15 to 1,000 characters");
  assert.match((await run(["users", "create", "ADA@buyer.example"])).stderr, "has an account already");
  assert.is((await run(["users", "set", "bob@buyer.example", "--suspend"])).status, 0);
  assert.match((await run(["users", "list"])).stdout, /bob@buyer\.example .*suspended/);
  const store = openSqliteStore({ path: path.join(folder, "registry.db") });
  const bob = (await registryAccess(store.database).users.byEmail("bob@buyer.example"))!;
  assert.match(bob.password, /^scrypt\$15\$8\$3\$/);
  assert.not(JSON.stringify(store.db.prepare("select * from adbind_users").all()).includes("horse"));
  await store.close();
});

cli("what is off is said, with what to do", async () => {
  const cases: [string[], RegExp][] = [
    [["orgs", "create", "X", "--tier", "gold"], /gold is no tier.*individual_professional/],
    [["orgs", "create", "X", "--id", "a b"], /a b is no identifier/],
    [["orgs", "set", "nowhere", "--suspend"], /there is no organization nowhere/],
    [["keys", "create", "nowhere", "k"], /there is no organization nowhere/],
    [["users", "create", "nobody"], /nobody is no mail address/],
    [["agents", "add", "nobody", SELLER], /there is no member nobody/],
    [["agents", "add", "acme", SELLER, "--visibility", "hidden"], /hidden is no visibility.*members_only/],
    [["members", "set", "x", "--tier", "gold"], /gold is no tier/],
  ];
  for (const [args, message] of cases) {
    const { status, stderr } = await run(args);
    assert.ok(status === 1 || status === 2, args.join(" "));
    assert.match(stderr, message);
  }
});

cli.run();
