/**
 * The programs of a fail-over cluster: etcd, HAProxy, PostgreSQL's own and Patroni. What this machine lacks is fetched from
 * Debian and PyPI and laid out under .cache/, with nothing installed.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";

/** Patroni of this line; its driver for etcd's third interface and the one for PostgreSQL come with it. */
const PYTHON_PACKAGES = ["patroni[etcd3]==4.1.*", "psycopg[binary]==3.*"];
/** Programs of a Debian package, and the libraries it has that a small system lacks. */
const DEBIAN = {
  etcd: ["etcd-server"],
  haproxy: ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"],
  pg_rewind: ["postgresql-15", "postgresql-client-15", "libpq5", "libllvm14"],
} as const;
/** Milliseconds for one step of the installation: a slow mirror, but not one that hangs. */
const STEP_LIMIT_MS = 300_000;

const home = path.resolve(import.meta.dirname, "../../.cache/cluster");
const debs = path.join(home, "debs");
const laid = path.join(home, "root");
const venv = path.join(home, "venv");

export interface ClusterPrograms {
  readonly etcd: string;
  readonly haproxy: string;
  /** Folder of `postgres`, `pg_basebackup`, `pg_rewind`. */
  readonly postgresBin: string;
  readonly python: string;
  /** `PATH`-like settings without which they do not start. */
  readonly env: Readonly<Record<string, string>>;
}

/** What `postgres` and Patroni run as. PostgreSQL refuses root. */
export interface RunsAs {
  readonly uid: number;
  readonly gid: number;
}

interface Step {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
}

/** @returns why it failed */
function run({ command, args, cwd }: Step): string | undefined {
  const { status, error, stderr } = spawnSync(command, args, { timeout: STEP_LIMIT_MS, encoding: "utf8", cwd });
  if (status === 0) return undefined;
  return `${command} ${args.slice(0, 2).join(" ")}: ${error?.message ?? stderr.trim().split("\n").at(-1) ?? status}`;
}

const inPath = (program: string): string | undefined =>
  (process.env.PATH ?? "")
    .split(path.delimiter)
    .concat("/usr/sbin")
    .map((folder) => path.join(folder, program))
    .find((file) => existsSync(file));

/** The newest, as it can do what the older ones can. */
const postgresOf = (root: string): string | undefined =>
  globSync(path.join(root, "usr/lib/postgresql/*/bin/pg_rewind")).sort().at(-1);

const find: Readonly<Record<keyof typeof DEBIAN, () => string | undefined>> = {
  etcd: () => inPath("etcd") ?? existing(path.join(laid, "usr/bin/etcd")),
  haproxy: () => inPath("haproxy") ?? existing(path.join(laid, "usr/sbin/haproxy")),
  pg_rewind: () => postgresOf("/") ?? inPath("pg_rewind") ?? postgresOf(laid),
};

const existing = (file: string): string | undefined => (existsSync(file) ? file : undefined);

/** Downloads packages and lays their files out; nothing of them is configured or started. */
function layOut(packages: readonly string[]): string | undefined {
  mkdirSync(debs, { recursive: true });
  const why = run({ command: "apt-get", args: ["download", ...packages], cwd: debs });
  if (why !== undefined) return `${why} (or install ${packages[0]} yourself)`;
  for (const name of packages)
    for (const deb of globSync(path.join(debs, `${name}_*.deb`))) {
      const broken = run({ command: "dpkg", args: ["-x", deb, laid] });
      if (broken !== undefined) return broken;
    }
  return undefined;
}

/** An interpreter that another user may start, too: one under a home folder is out of his reach. */
const systemPython = (): string => existing("/usr/bin/python3") ?? "python3";

function preparePatroni(): string | undefined {
  const python = path.join(venv, "bin/python");
  if (existsSync(python) && spawnSync(python, ["-c", "import patroni, psycopg"]).status === 0) return undefined;
  console.error("run: installing Patroni under .cache/");
  rmSync(venv, { recursive: true, force: true });
  const args = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...PYTHON_PACKAGES];
  return run({ command: systemPython(), args: ["-m", "venv", venv] }) ?? run({ command: python, args });
}

/** Finds the programs, or fetches them. @returns them, or why a cluster cannot be had here */
export function prepareCluster(): ClusterPrograms | string {
  if (process.platform !== "linux") return "it takes a Linux, where a node's processes can be told apart";
  for (const [program, packages] of Object.entries(DEBIAN)) {
    if (find[program as keyof typeof DEBIAN]() !== undefined) continue;
    console.error(`run: fetching ${packages[0]} into .cache/`);
    const why = layOut(packages);
    if (why !== undefined) return why;
  }
  const why = preparePatroni();
  if (why !== undefined) return why;
  return installedCluster()!;
}

/** The programs, where all of them are there already. */
export function installedCluster(): ClusterPrograms | undefined {
  const [packages] = globSync(path.join(venv, "lib/python3*/site-packages"));
  const [etcd, haproxy, rewind] = [find.etcd(), find.haproxy(), find.pg_rewind()];
  if (packages === undefined || etcd === undefined || haproxy === undefined || rewind === undefined) return undefined;
  const libraries = globSync(path.join(laid, "usr/lib/*-linux-gnu")).join(":");
  return {
    etcd,
    haproxy,
    postgresBin: path.dirname(rewind),
    python: systemPython(),
    env: { PYTHONPATH: packages, ...(libraries !== "" && { LD_LIBRARY_PATH: libraries }) },
  };
}

/** Whose PostgreSQL runs: this process's user, or for root the one Debian has for it. @returns why there is nobody */
export function runsAs(): RunsAs | undefined | string {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const ids = ["-u", "-g"].map((flag) => Number(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout));
    if (ids.every((id) => id > 0)) return { uid: ids[0]!, gid: ids[1]! };
  }
  return "PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody";
}

/**
 * The programs where another user reaches them: what stands under a folder that is closed to others is copied.
 * @param folder that he may enter
 */
export function withinReach(programs: ClusterPrograms, folder: string): ClusterPrograms {
  const copied = (from: string): string => {
    if (isOpen(from)) return from;
    const to = path.join(folder, path.basename(from));
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    return to;
  };
  const { postgresBin, env } = programs;
  const { PYTHONPATH, LD_LIBRARY_PATH, ...rest } = env;
  const root = postgresBin.startsWith(laid) ? copied(laid) : undefined;
  return {
    ...programs,
    postgresBin: root === undefined ? postgresBin : postgresBin.replace(laid, root),
    env: {
      ...rest,
      PYTHONPATH: copied(PYTHONPATH!),
      ...(LD_LIBRARY_PATH !== undefined && { LD_LIBRARY_PATH: LD_LIBRARY_PATH.replaceAll(laid, root ?? laid) }),
    },
  };
}

/** Whether everybody may enter each folder of a path. */
function isOpen(file: string): boolean {
  for (let at = file; at !== path.dirname(at); at = path.dirname(at))
    if ((statSync(at).mode & 0o001) === 0) return false;
  return true;
}
