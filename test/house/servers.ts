/** Which tests start a PostgreSQL of their own: each costs seconds, memory and a disk's flushes; the others share the run's. */
import ts from "typescript";
import type { Source } from "./source.js";

/** Files that may, and why the server of the run will not do. */
const ownServers: Readonly<Record<string, string>> = {
  "test/support/postgres-child.ts": "it is killed, to see that its server goes with it",
  "test/db/postgres.test.ts": "it restarts the server under open connections",
  "test/db/schema.test.ts": "it makes a role, which belongs to the whole server",
  "test/db/foreign-server.test.ts": "it makes roles, which belong to the whole server",
  "test/db/full-disk.test.ts": "it makes a tablespace, on a disk that it fills",
  "test/queue/wakes.test.ts": "max_prepared_transactions is read once, when a server starts",
  "test/sender/transactions.test.ts": "it counts transactions by their numbers, which are the whole server's",
  "test/sender/joined-postgres.test.ts": "it restarts the server, and compares it with a second one",
  "test/registry/server-instances.test.ts": "it takes the server away under a registry",
  "test/faults/sender-ground.ts": "it restarts the server, and has so many sessions that others would find none",
  "test/faults/outbox-run.ts": "what a killed application has committed is judged with durability as in production",
  "test/faults/retention-run.ts": "how a database grows is measured with vacuum and checkpoints as in production",
};

/** Where `startPostgres` is declared. */
const HOME = "test/support/postgres";

/** By whatever name it is called then. */
const startsServer = ({ tree, path }: Source): boolean =>
  tree?.statements.some((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return false;
    const { moduleSpecifier } = statement;
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return false;
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!new URL(moduleSpecifier.text, `file:///${folder}/`).pathname.endsWith(`/${HOME}.js`)) return false;
    return namesOf(statement).includes("startPostgres");
  }) ?? false;

/** What a statement takes from elsewhere, as it is called there. */
function namesOf(statement: ts.ImportDeclaration | ts.ExportDeclaration): string[] {
  const names = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : statement.exportClause;
  if (names === undefined || !("elements" in names)) return [];
  return [...names.elements].map(({ name, propertyName }) => (propertyName ?? name).text);
}

/** Tests that start a server and may not, and those that may and do not, as lines to act on. */
export function serverFaults(
  sources: readonly Source[],
  listed: Readonly<Record<string, string>> = ownServers,
): string[] {
  const starting = sources.filter(({ path }) => path.startsWith("test/")).filter(startsServer);
  const fresh = starting
    .filter(({ path }) => listed[path] === undefined)
    .map(
      ({ path }) =>
        `${path} starts a PostgreSQL of its own: take databases from sharedPostgres, or say in servers.ts why not`,
    );
  const known = new Set(starting.map(({ path }) => path));
  const stale = Object.keys(listed)
    .filter((file) => !known.has(file))
    .map((file) => `${file} starts no PostgreSQL of its own: take it off the list in servers.ts`);
  return [...fresh, ...stale];
}
