/** The operators' pages while a principal is on its way to another database. */
import { once } from "node:events";
import { get } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createOutboxServer } from "../../cli/outbox-server.js";
import { AdbindError, type ErrorCode } from "../../runtime/errors.js";
import type { Outbox } from "../../runtime/sender/operators.js";

const endpoint = {
  ...{ endpoint: "https://buyer.example p.u", principal: "p", url: "https://buyer.example/hook" },
  ...{ error: null, waiting: 1, state: "well", restsUntil: null, failingSince: null },
} as const;

test("what is done to an event that moves is answered 503 with a time, and 409 where it has gone", async () => {
  let code: ErrorCode = "split_moving";
  const outbox = {
    endpoints: async () => [endpoint],
    counts: async () => ({ waiting: 1, dead: 0, expired: 0, refused: 0 }),
    replay: async () => {
      throw new AdbindError(code, "told so");
    },
  } as unknown as Outbox;
  const faults: unknown[] = [];
  const server = createOutboxServer({ outbox, onFault: (error) => faults.push(error) })
    .listen(0, "127.0.0.1")
    .unref();
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const page = await fetch(url);
  const cookie = page.headers.get("set-cookie")!.split(";")[0]!;
  const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())![1]!;
  const replay = () =>
    fetch(`${url}/replay`, { method: "POST", headers: { cookie }, body: new URLSearchParams({ csrf, id: "1" }) });
  const moving = await replay();
  assert.equal([moving.status, moving.headers.get("retry-after")], [503, "5"]);
  assert.match(await moving.text(), "told so");
  code = "split_wrong_database";
  assert.is((await replay()).status, 409);
  assert.equal(faults, []);
  code = "database_unreachable";
  const failed = await replay();
  assert.is(failed.status, 500);
  assert.not.match(await failed.text(), "told so");
  assert.is((faults[0] as AdbindError).message, "told so", "the server's operator reads it");
  server.closeAllConnections();
  server.close();
});

test("a path that is none is not there, and no fault of the server's", async () => {
  const faults: unknown[] = [];
  const server = createOutboxServer({ outbox: {} as Outbox, onFault: (error) => faults.push(error) });
  await once(server.listen(0, "127.0.0.1").unref(), "listening");
  const [answer] = await once(
    get({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, path: "//" }),
    "response",
  );
  assert.is(answer.statusCode, 404);
  assert.equal(faults, []);
  server.closeAllConnections();
  server.close();
});

test.run();
