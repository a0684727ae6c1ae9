/** Starts a server, says where it is, and stays. */
import pg from "pg";
import { startPostgres } from "./postgres.js";

const { url } = await startPostgres({ fsync: "off" });
const client = new pg.Client(url);
await client.connect();
const { rows } = await client.query<{ data_directory: string }>("show data_directory");
console.log(JSON.stringify({ url, folder: rows[0]!.data_directory }));
