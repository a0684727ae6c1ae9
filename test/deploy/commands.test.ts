/** Every command in docs/deploy is run as it stands there, on a PostgreSQL: it becomes ready by its own probe, and ends when it is told to. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as keys } from "../../cli/keys.js";
import { newSecretKey } from "../../runtime/sender/secret-keys.js";
import { openPostgresStore } from "../../runtime/store/index.js";
import { commandFolder, runCommand } from "../cli/run-command.js";
import { cellsOf } from "../support/cells.js";
import { hasNats, NO_NATS, startNats } from "../support/nats.js";
import { sharedPostgres } from "../support/postgres.js";
import {
  type Container,
  composedServices,
  composeIn,
  type Environment,
  filesNamed,
  objectsIn,
  podOf,
} from "./deploy-files.js";
import { endAll, machine, provesItself, start } from "./run-container.js";

const ours = new Set(["adbind", "node", "sh"]);

interface Found {
  readonly where: string;
  readonly container: Container;
  readonly config: Environment;
}

function kubernetesCommands(file: string): Found[] {
  const objects = objectsIn(file);
  const maps = new Map(objects.filter(({ kind }) => kind === "ConfigMap").map((one) => [one.metadata.name, one.data]));
  return objects.flatMap((object) =>
    (podOf(object)?.containers ?? [])
      .filter(({ command }) => ours.has(command?.[0] ?? ""))
      .map((container) => ({
        where: `${file}: ${container.name}`,
        container,
        config: Object.assign({}, ...(container.envFrom ?? []).map((one) => maps.get(one.configMapRef?.name ?? ""))),
      })),
  );
}

/** Where compose puts something in from its own environment. */
function secretOf(name: string): { readonly name: string; readonly key: string } {
  if (name === "ADBIND_SPLIT") return { name: "split", key: "databases" };
  return name.endsWith("TOKEN") ? { name: "search", key: "token" } : { name: "database", key: "url" };
}

const PROBE = { httpGet: { path: "/readyz", port: "http" } };

/** What a compose file starts, as a container of Kubernetes: settings are values, and all listen on 8080. */
const composeCommands = (file: string): Found[] =>
  Object.entries(composedServices(file))
    .map(([name, { command = [], environment = {} }]): [string, Container] => [
      name,
      {
        ...{
          name,
          image: "",
          command: command.length === 0 && "PUBLIC_URL" in environment ? ["node", "receiver.ts"] : command,
        },
        ports: [{ name: "http", containerPort: 8_080 }],
        env: Object.entries(environment).map(([key, value]) =>
          /postgres:|SEARCH_TOKEN/.test(value)
            ? { name: key, valueFrom: { secretKeyRef: secretOf(key) } }
            : { name: key, value },
        ),
        ...(command.includes("serve") || command.includes("deliver") || "PUBLIC_URL" in environment
          ? { readinessProbe: PROBE, livenessProbe: PROBE }
          : {}),
      },
    ])
    .filter(([, { command }]) => ours.has(command![0] ?? ""))
    .map(([name, container]) => ({ where: `${file}: ${name}`, container, config: {} }));

const found = [
  ...filesNamed("kubernetes.yaml").flatMap(kubernetesCommands),
  ...filesNamed("compose.yaml").flatMap(composeCommands),
];
/** What others wait for. */
const isFirst = ({ container }: Found): boolean => ["migrate", "split"].includes(container.name);

/** One command with one set of settings is run once, wherever it stands; what migrates comes first. */
const once = [
  ...new Map(
    found.map((one) => {
      const { command, env = [] } = one.container;
      const port = String(one.container.ports?.[0]?.containerPort);
      const words = command!.map((word) =>
        word === port ? "PORT" : word.replace(/^(?:http|nats):.*|^\d\/\d$|^\/run\/secrets.*/, "HERE"),
      );
      const postgres = env.some(({ valueFrom }) => valueFrom !== undefined);
      return [JSON.stringify([words.filter((word) => !/^(--host|0\.0\.0\.0)$/.test(word)), postgres]), one];
    }),
  ).values(),
].sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)));

/** Part of those that nothing waits for that one commit's run takes: each is started, probed and ended, for a second of a processor. */
const SHARE = 0.5;
const others = once.filter((one) => !isFirst(one)).map(({ where }) => where);
const chosen = cellsOf(
  "ADBIND_CELLS=all ./run test test/deploy/commands",
  [...new Set(others)],
  Math.ceil(others.length * SHARE),
);

/** What a registry that asks parts is given to ask. */
const firstPart = found.find(({ container }) => container.name === "search")!;

const postgres = await sharedPostgres();
const nats = hasNats() ? await startNats() : undefined;
const { at, remove } = commandFolder();
await runCommand(keys, ["generate", "--use", "webhook", "--word", "proto", "--out", "keys.json"]);
const [url, other] = [await postgres.empty(), await postgres.database()];
const split = ["a", "b", "c"].map(async (name) => `${name}=${await postgres.empty()}`);
// Its own `migrate` is run below.
await (await openPostgresStore({ url: other })).close();
const here = machine({
  secrets: {
    "database.url": url,
    "database-owner.url": url,
    "database-of-news.url": other,
    "split.databases": (await Promise.all(split)).join(" "),
    "search.token": "a-token-of-this-test-alone",
  },
  hosts: {
    "nats://nats-0.nats:4222,nats-1.nats:4222,nats-2.nats:4222": nats?.url ?? "",
    "nats://nats-1:4222,nats-2:4222,nats-3:4222": nats?.url ?? "",
    // All parts of the index but the first are gone here: a registry says so in its answers, and is ready.
    ...Object.fromEntries([2, 3, 4].map((part) => [`http://search-${part}:8080`, `http://127.0.0.1:${part}`])),
    ...Object.fromEntries([1, 2, 3].map((part) => [`http://search-${part}.search:8080`, `http://127.0.0.1:${part}`])),
  },
  files: {
    "signing-key.json": readFileSync(at("keys.json"), "utf8"),
    "secret-keys": `${newSecretKey("k1")}\n`,
    "sellers.json": '["https://seller.example/agent"]',
  },
});

for (const { where, container, config } of once.filter((one) => isFirst(one) || chosen.includes(one.where)))
  test(`${where} does what it is there for`, async () => {
    if (container.command!.includes("--queue") && nats === undefined) return console.log(NO_NATS);
    const asks = container.command!.includes("--search-parts");
    const part = asks ? await start(firstPart.container, firstPart.config, here) : undefined;
    const at = `http://127.0.0.1:${part?.port}`;
    const hosts = { ...here.hosts, "http://search-0.search:8080": at, "http://search-1:8080": at };
    const started = await start(container, config, { ...here, hosts });
    const code = container.readinessProbe ? await provesItself(container, started) : await started.ended;
    part?.child.kill("SIGTERM");
    // What stands for a day's sleep ends the shell, which has no code then.
    const expected = container.command![0] === "sh" && !container.readinessProbe ? null : 0;
    assert.is(code, expected, started.said());
  });

test("a seller is given settings that a scaffolded one knows", () => {
  const readme = readFileSync(path.resolve(import.meta.dirname, "../../templates/project/README.md"), "utf8");
  const sellers = filesNamed("kubernetes.yaml").flatMap((file) =>
    objectsIn(file).flatMap((object) => podOf(object)?.containers.filter(({ name }) => name === "seller") ?? []),
  );
  const composed = filesNamed("compose.yaml").flatMap((file) =>
    Object.keys(composeIn(file).services.seller?.environment ?? {}),
  );
  const names = [...sellers.flatMap(({ env = [] }) => env.map(({ name }) => name)), ...composed];
  assert.ok(names.length > 5);
  assert.equal(
    names.filter((name) => !new RegExp(`\\b${name}\\b`).test(readme)),
    [],
  );
});

test.after(async () => {
  endAll();
  await nats?.stop();
  await postgres.stop();
  remove();
});
test.run();
