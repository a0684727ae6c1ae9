/** Settings of the programs that docs/deploy puts beside adbind, read by those programs themselves where they are installed. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { installedCluster } from "../cluster/cluster-programs.js";
import { hasNats, NO_NATS } from "../support/nats.js";
import { tempFolder } from "../support/release.js";
import { composedServices, filesNamed, folder, objectsIn, read } from "./deploy-files.js";

const cluster = installedCluster();
const natsServer = path.resolve(import.meta.dirname, "../../.cache/nats/nats-server");

const NO_CLUSTER = "skipped: no HAProxy and Patroni; ./run cluster postgres fetches them";

function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { code: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    env: { ...process.env, ...cluster?.env, ...env },
  });
  return { code: status, said: `${stdout}${stderr}` };
}

test("a volume is mounted where the image has a folder that its user may write in", () => {
  const seller = readFileSync(path.resolve(folder, "../../templates/project/Dockerfile"), "utf8");
  const images = { "..": read("Dockerfile"), seller };
  for (const file of filesNamed("compose.yaml"))
    for (const [name, { build, volumes = [] }] of Object.entries(composedServices(file))) {
      const image = build === ".." ? images[".."] : images.seller;
      // What others make is theirs to say.
      if (build !== ".." && !`${build}`.endsWith("my-seller")) continue;
      const workdir = /^WORKDIR (.*)$/m.exec(image)![1]!;
      const made = [...image.matchAll(/^RUN (?:install -d -o node -g node|mkdir -m 1777) (\S+)$/gm)];
      const writable = made.map(([, at]) => path.resolve(workdir, at!));
      for (const volume of volumes) assert.ok(writable.includes(volume.split(":")[1]!), `${file}: ${name}: ${volume}`);
    }
});

test("HAProxy takes its files, and refuses one with a wrong word", () => {
  if (cluster === undefined) return console.log(NO_CLUSTER);
  const { haproxy } = cluster;
  const files = filesNamed("haproxy.cfg");
  assert.is(files.length, 2);
  for (const file of files) {
    const { code, said } = run(haproxy, ["-c", "-q", "-f", path.join(folder, file)]);
    assert.is(code, 0, `${file}: ${said}`);
  }
  const wrong = path.join(tempFolder(), "haproxy.cfg");
  writeFileSync(
    wrong,
    read(files[0]!).replace("option redispatch", "option redispach").replace("option httpchk", "option htpchk"),
  );
  assert.is.not(run(haproxy, ["-c", "-q", "-f", wrong]).code, 0);
});

test("NATS takes its settings, those in Kubernetes too", () => {
  if (!hasNats()) return console.log(NO_NATS);
  const within = objectsIn("log/kubernetes.yaml").find(({ kind }) => kind === "ConfigMap")!.data!["nats.conf"]!;
  for (const text of [read("log/nats.conf"), within]) {
    const file = path.join(tempFolder(), "nats.conf");
    writeFileSync(file, text);
    const { code, said } = run(natsServer, ["-t", "-c", file], { NATS_NAME: "nats-1", POD_NAME: "nats-1" });
    assert.is(code, 0, said);
  }
});

test("Patroni takes a node's settings, but for addresses that are not here", () => {
  if (cluster === undefined) return console.log(NO_CLUSTER);
  const settings = parse(read("fail-over/patroni.yaml")) as Record<string, object>;
  const file = path.join(tempFolder(), "patroni.yaml");
  // JSON is YAML. Etcd is not asked for: it would have to answer.
  writeFileSync(file, JSON.stringify({ ...settings, etcd3: undefined, kubernetes: { labels: { app: "database" } } }));
  const { said } = run(cluster.python, ["-m", "patroni", "--validate-config", file], {
    PATRONI_NAME: "node-1",
    PATRONI_RESTAPI_CONNECT_ADDRESS: "127.0.0.2:8008",
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: "127.0.0.2:5432",
    PATRONI_SUPERUSER_PASSWORD: "a",
    PATRONI_REPLICATION_PASSWORD: "b",
    PATRONI_REWIND_PASSWORD: "c",
  });
  // What it says that is not of this machine: its folders, its programs, its ports.
  const faults = said
    .split("\n")
    .filter((line) => line.trim() !== "" && !/data_dir|bin_dir|not found|already in use|kubernetes/i.test(line));
  assert.equal(faults, []);
});

test.run();
