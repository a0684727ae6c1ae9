/** A role as an application has one: it may use the tables of a database, and owns none. */
import { runStatements } from "./postgres.js";

export interface AppRole {
  readonly role: string;
  /** The database's URL, with it. */
  readonly own: string;
  drop(): Promise<void>;
}

let roles = 0;

/** @param url of its owner, who has made the tables */
export async function appRole(url: string): Promise<AppRole> {
  const role = `app_${process.pid}_${roles++}`;
  await runStatements(
    url,
    `create role ${role} login password 'app'`,
    `grant select, insert, update, delete on all tables in schema public to ${role}`,
    `grant usage on all sequences in schema public to ${role}`,
    `grant execute on all functions in schema public to ${role}`,
  );
  const own = Object.assign(new URL(url), { username: role, password: "app" }).href;
  return { role, own, drop: () => runStatements(url, `drop owned by ${role}`, `drop role ${role}`) };
}
