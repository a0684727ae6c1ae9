/** A database whose transactions are isolated in another way than ours are to be. */
import pg from "pg";

export async function withLevel(url: string, level: string): Promise<void> {
  const admin = new pg.Client(url);
  await admin.connect();
  await admin.query(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_isolation = '${level}'`);
  await admin.end();
}
