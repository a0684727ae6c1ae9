/** Connections to a PostgreSQL that is not as we would have it. */
import { type AddressInfo, connect, createServer } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/postgres/open.js";
import type { Query } from "../../runtime/db/types.js";
import { AdbindError } from "../../runtime/errors.js";
import { runStatements, sharedPostgres } from "../support/postgres.js";
import { thrownBy } from "../support/thrown.js";
import { withLevel } from "./isolation.js";

const postgres = await sharedPostgres();

test("statements see what others have committed by then, whatever the database has by default", async () => {
  const url = await postgres.database();
  const open = () => openPostgres({ url, connections: 4 });
  await withLevel(url, "serializable");
  const instances = await Promise.all([open(), open(), open()]);
  const shown = (q: Query) => q.rows<{ transaction_isolation: string }>("show transaction_isolation");
  const [first] = instances;
  const found = [...(await first!.query(shown)), ...(await first!.write(shown))];
  assert.equal(
    found.map((row) => row.transaction_isolation),
    ["read committed", "read committed"],
  );
  for (const one of instances) await one.close();
});

test("values come and go as they are, whatever the database has by default", async () => {
  const url = await postgres.database();
  const name = new URL(url).pathname.slice(1);
  const old = ["array_nulls = off", "extra_float_digits = 0", "standard_conforming_strings = off"];
  await runStatements(url, ...old.map((one) => `alter database ${name} set ${one}`));
  const database = await openPostgres({ url });
  const text = String.raw`select $1::bigint[] as list, 1.188629436111989::float8 * $2 as number, 'a\b' as text`;
  const { rows } = await database.ask(text, [[1, null], 1.0000000000000002]);
  assert.equal(rows, [{ list: ["1", null], number: 1.1886294361119891, text: String.raw`a\b` }]);
  await database.close();
});

const fatal = (code: string, message: string): Buffer => {
  const fields = `SFATAL\0VFATAL\0C${code}\0M${message}\0\0`;
  const said = Buffer.alloc(5 + Buffer.byteLength(fields));
  said.write("E");
  said.writeInt32BE(said.length - 1, 1);
  said.write(fields, 5);
  return said;
};

for (const [code, said] of [
  ["0A000", "Feature not supported: RDS Proxy currently doesn\u2019t support command-line options."],
  ["08P01", "unsupported startup parameter in options: statement_timeout"],
] as const)
  test(`behind a pooler that says "${said}" a store is opened all the same, and each transaction brings its limits`, async () => {
    const url = await postgres.database();
    const proxy = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (first) => {
        if (first.includes("\0options\0")) return void socket.end(fatal(code, said));
        const server = connect(Number(new URL(url).port), "127.0.0.1");
        for (const one of [server, socket]) one.on("error", () => undefined).on("close", () => server.destroy());
        server.write(first);
        socket.pipe(server).pipe(socket);
      });
    });
    await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
    const through = Object.assign(new URL(url), { port: String((proxy.address() as AddressInfo).port) }).href;
    const database = await openPostgres({ url: through, connections: 1 });
    assert.ok(database.pooled);
    const asked = (q: Query) => q.rows("select current_setting('statement_timeout') as s");
    assert.equal(await database.write(asked), [{ s: "30s" }]);
    await database.close();
    const fault = await thrownBy(() => openPostgres({ url: `${through}&options=-c%20search_path%3Da` }));
    assert.is(fault.code, "database_unreachable");
    assert.match(fault.message, /a pooler takes no options .*: take them off the URL/);
    await new Promise((resolve) => proxy.close(resolve));
  });

test("a server that stops as a connection is made ends no process", async () => {
  const url = await postgres.database();
  const { hostname, port } = new URL(url);
  const stopping = fatal("57P01", "terminating connection due to administrator command");
  const ready = Buffer.from("Z\0\0\0\x05I");
  const proxy = createServer((socket) => {
    const server = connect(Number(port), hostname);
    socket.on("error", () => server.destroy());
    server.on("error", () => socket.destroy());
    socket.pipe(server);
    server.on("data", (data) => {
      // In one piece, as they come from a server that is told to stop at that moment.
      if (data.subarray(-ready.length).equals(ready)) socket.end(Buffer.concat([data, stopping]));
      else socket.write(data);
    });
  });
  await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
  const through = new URL(url);
  through.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const opened = await openPostgres({ url: through.href, connections: 1 }).catch((error: unknown) => error);
  assert.instance(opened, AdbindError);
  proxy.close();
});

test.after(() => postgres.stop());
test.run();
