/** The files of docs/deploy, read as Docker Compose and Kubernetes read them. */
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse, parseAllDocuments } from "yaml";

export const folder = path.resolve(import.meta.dirname, "../../docs/deploy");
/** Where the schemas are, once `./run test` has installed them. */
export const peers = path.resolve(import.meta.dirname, "../interop/deploy");
export const hasPeers = existsSync(path.join(peers, "node_modules/kubernetes-models"));
export const NO_PEERS = "test/interop/deploy is not installed: nothing here is held to its schema";

export const topologies = ["one-process", "one-postgresql", "fail-over", "log", "split"] as const;

export const read = (file: string): string => readFileSync(path.join(folder, file), "utf8");

export const filesNamed = (name: string): string[] => globSync(`*/${name}`, { cwd: folder }).sort();

/** What stands in an environment: a value, or undefined where it comes from a secret or a field of the pod. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string | number };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly envFrom?: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string };
  }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface Pod {
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string }[];
}

type Labels = Readonly<Record<string, string>>;

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: Labels & { readonly matchLabels?: Labels };
    readonly ports?: readonly { readonly port: number; readonly targetPort?: string }[];
    readonly template?: { readonly metadata?: { readonly labels: Labels }; readonly spec: Pod };
    readonly jobTemplate?: { readonly spec: { readonly template: { readonly spec: Pod } } };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

/** @throws Error for what is no YAML, an alias of another document among it */
export function objectsIn(file: string): KubernetesObject[] {
  return parseAllDocuments(read(file), { merge: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]!.message}`);
    return document.toJS() as KubernetesObject;
  });
}

export const podOf = ({ spec }: KubernetesObject): Pod | undefined =>
  spec?.jobTemplate?.spec.template.spec ?? spec?.template?.spec;

export interface ComposeService {
  readonly image?: string;
  readonly build?: unknown;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, object>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes?: Readonly<Record<string, object>>;
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>;
}

/** What a topology stands on: `docker compose -f ../one-postgresql/compose.yaml -f compose.yaml`. */
const BASE = "one-postgresql";

/** A file's services as compose puts them together with those that it stands on. */
export function composedServices(file: string): ComposeFile["services"] {
  const { services } = composeIn(file);
  if (file.startsWith("one-")) return services;
  const below = composeIn(`${BASE}/compose.yaml`).services;
  return Object.fromEntries(
    Object.entries(services).map(([name, service]) => {
      const environment = { ...below[name]?.environment, ...service.environment };
      return [name, { ...below[name], ...service, environment }];
    }),
  );
}

export const composeIn = (file: string): ComposeFile => parse(read(file), { merge: true }) as ComposeFile;
