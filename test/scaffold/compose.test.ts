/** The project's compose.yaml, read as docker does: its services, what they are given, and a seller that starts with just that. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { newSeller } from "../../generator/scaffold/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { fromSource } from "../runner/from-source.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { filesByReadme } from "./printed-steps.js";
import { root, workspace } from "./project.js";

interface Service {
  readonly build?: string;
  readonly image?: string;
  readonly env_file?: string;
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart?: string;
}

interface Compose {
  readonly services: { readonly seller: Service; readonly database: Service };
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const text = (file: string): string => readFileSync(path.join(root, "templates/project", file), "utf8");
const { services, volumes, secrets } = parse(text("compose.yaml")) as Compose;
const settings = parseEnv(text(".env.example")) as Readonly<Record<string, string>>;
const dockerfile = text("Dockerfile");

test("services, secrets, volumes and ports are those that the settings and the image speak of", () => {
  const { seller, database } = services;
  assert.is(seller.build, ".");
  assert.is(seller.env_file, ".env");
  assert.equal(seller.ports, [`${settings.PORT}:${settings.PORT}`]);
  assert.is(settings.HOST, "0.0.0.0", "a container is reached from outside of it");
  assert.match(dockerfile, `EXPOSE ${settings.PORT}`);
  for (const name of seller.secrets ?? []) {
    assert.is(secrets[name]?.file, `./${name}`);
    assert.is(settings.SIGNING_KEY, `/run/secrets/${name}`);
  }
  const url = new URL(settings.DATABASE_URL!);
  assert.is(services[url.hostname as "database"], database);
  assert.equal(seller.depends_on, { [url.hostname]: { condition: "service_healthy" } });
  const { POSTGRES_USER: user, POSTGRES_PASSWORD: password, POSTGRES_DB: name = user } = database.environment!;
  assert.equal([url.username, url.password, url.pathname], [user, password, `/${name}`]);
  assert.ok(database.healthcheck!.test.includes(user!));
  for (const one of database.volumes ?? []) assert.ok(Object.hasOwn(volumes, one.split(":")[0]!), one);
  assert.not.match(dockerfile, /COPY.*(\.env|signing-key)/, "nothing secret is in the image");
});

test("a seller started with exactly these settings is ready on PostgreSQL, and closed to who has no token", async () => {
  const folder = path.join(workspace(), "shop");
  await newSeller({ folder, release: path.join(root, "manifests/3.1.0"), specialisms: ["sales_guaranteed"] });
  const made = await filesByReadme(folder);
  const ignored = readFileSync(path.join(folder, ".gitignore"), "utf8").split("\n");
  for (const file of Object.values(made)) assert.ok(ignored.includes(path.basename(file)), `${file} is a secret`);
  const server = await sharedPostgres();
  const port = `${await freePort()}`;
  // What docker does: the service's name leads to it, the secret is a file, and the port is one of the machine's.
  const given = { DATABASE_URL: await server.database(), SIGNING_KEY: made.SIGNING_KEY!, PORT: port };
  for (const name of Object.keys(given)) assert.ok(name in settings, name);
  const env = { PATH: process.env.PATH!, ...settings, ...made, ...given };
  const child = spawn(process.execPath, [...fromSource, "src/serve.ts"], { cwd: folder, env, stdio: "pipe" });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  try {
    await until(
      async () => said.includes("/mcp\n") || child.exitCode !== null,
      () => said,
      { limitMs: 60_000 },
    );
    assert.is(child.exitCode, null, said);
    const at = `http://127.0.0.1:${port}`;
    const status = async (place: string, token?: string): Promise<number> =>
      (await fetch(`${at}${place}`, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }))
        .status;
    assert.is(await status("/healthz"), 200);
    await until(async () => (await status("/readyz")) === 200, "it is ready");
    assert.is(await status("/metrics", settings.METRICS_TOKEN), 200);
    assert.not.equal(await status("/metrics"), 200);
    const call = (token?: string): Promise<Response> =>
      fetch(`${at}/mcp`, {
        method: "POST",
        headers: {
          ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({
          ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
          params: { name: "get_products", arguments: { buying_mode: "wholesale", brand: { domain: "acme.example" } } },
        }),
      });
    assert.is((await call()).status, 401);
    const [token] = Object.keys(JSON.parse(settings.TOKENS!) as object);
    const answered = await call(token);
    assert.is(answered.status, 200);
    assert.match(await answered.text(), "homepage_display");
  } finally {
    child.kill("SIGTERM");
    await ended;
    await server.stop();
  }
  assert.is(child.exitCode, 0, said);
});

test.run();
