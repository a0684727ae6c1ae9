/** What the parts of a fail-over cluster are told: the settings a deployment would begin with, on ports of loopback. */

/** One PostgreSQL and the Patroni that runs it. */
export interface NodePlace {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  /** Patroni's own interface, which says what the node is. */
  readonly restPort: number;
}

export interface HaPlan {
  readonly etcdPort: number;
  readonly nodes: readonly NodePlace[];
  /** HAProxy's port of the primary, whichever it is. */
  readonly primaryPort: number;
  readonly postgresBin: string;
  /** A commit is answered when a second node has it on disk. */
  readonly synchronous: boolean;
}

export const USER = "adbind";
export const PASSWORD = "adbind";
export const SCOPE = "adbind";

/** Seconds a primary may be silent before another takes over: Patroni takes no less. */
export const TTL_S = 20;
/** Seconds between two looks of a node at the others, and for one answer of etcd. */
const LOOP_S = 1;
const RETRY_S = 3;
/** The most an asynchronous replica may lack and still take over, in bytes: what may be lost. */
const LAG_LIMIT_BYTES = 1_048_576;

/** Many connections; commits on disk on each node; memory for a machine that is shared with everything else. */
const parameters = {
  max_connections: 300,
  shared_buffers: "64MB",
  dynamic_shared_memory_type: "mmap",
  wal_level: "replica",
  hot_standby: "on",
  wal_keep_size: "256MB",
  max_wal_senders: 10,
  max_replication_slots: 10,
  // A standby that vanished is noticed by its primary, and the other way round.
  wal_sender_timeout: "5s",
  wal_receiver_timeout: "5s",
  unix_socket_directories: "",
};

/** A node's settings: YAML as Patroni reads it is a superset of JSON. */
export function patroniConfig(plan: HaPlan, node: NodePlace): string {
  const login = { username: USER, password: PASSWORD };
  const { synchronous } = plan;
  return JSON.stringify(
    {
      scope: SCOPE,
      name: node.name,
      restapi: { listen: `127.0.0.1:${node.restPort}`, connect_address: `127.0.0.1:${node.restPort}` },
      etcd3: { host: `127.0.0.1:${plan.etcdPort}` },
      bootstrap: {
        dcs: {
          ttl: TTL_S,
          loop_wait: LOOP_S,
          retry_timeout: RETRY_S,
          maximum_lag_on_failover: LAG_LIMIT_BYTES,
          synchronous_mode: synchronous,
          postgresql: { use_pg_rewind: true, use_slots: true, parameters },
        },
        initdb: ["data-checksums", { encoding: "UTF8" }, { locale: "C" }],
      },
      postgresql: {
        listen: `127.0.0.1:${node.port}`,
        connect_address: `127.0.0.1:${node.port}`,
        data_dir: `${node.folder}/data`,
        bin_dir: plan.postgresBin,
        pgpass: `${node.folder}/pgpass`,
        authentication: { superuser: login, replication: { ...login, username: "replicator" }, rewind: login },
        pg_hba: ["host all all 127.0.0.1/32 md5", "host replication all 127.0.0.1/32 md5"],
        // What it cannot be rewound to is copied anew.
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
      },
      // A deployment has a watchdog on each machine; here all share one machine.
      watchdog: { mode: "off" },
    },
    undefined,
    1,
  );
}

/** The one address of the primary: who is it is asked of each Patroni, and sessions with a former one are ended. */
export const haproxyConfig = ({ nodes, primaryPort }: HaPlan): string => `global
  maxconn 2000
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen primary
  bind 127.0.0.1:${primaryPort}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map(({ name, port, restPort }) => `  server ${name} 127.0.0.1:${port} check port ${restPort}`).join("\n")}
`;

export const etcdArgs = (port: number, peerPort: number, folder: string): readonly string[] => {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  return [
    ...["--name", "etcd", "--data-dir", folder, "--logger", "zap", "--log-level", "error"],
    ...["--listen-client-urls", client, "--advertise-client-urls", client],
    ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `etcd=${peer}`],
  ];
};
