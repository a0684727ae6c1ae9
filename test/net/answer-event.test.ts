/** Where the answer in a stream of events ends, however it is cut and spelled, and what becomes of the rest. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { answerEvent } from "../../runtime/net/answer-event.js";
import { guardedFetch, textOf } from "./loopback-server.js";

const stream = { "content-type": "Text/Event-Stream; charset=utf-8" };
const request = '{"jsonrpc":"2.0","id":7,"method":"tools/call"}';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** How many bytes a watch takes before it has enough; undefined where it never has. */
function takes(text: string, size: number, headers: Record<string, string> = stream): number | undefined {
  const watch = answerEvent(request)(headers);
  const all = bytes(text);
  for (let at = 0; at < all.length; at += size)
    if (watch?.(all.subarray(at, at + size)) === true) return Math.min(all.length, at + size);
  return undefined;
}

const answer = '{"jsonrpc":"2.0","id":7,"result":{"é":"\u{1f600}"}}';
const before =
  'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\ndata: {"id":8,"result":1}\n\ndata: no JSON\n\n';

test("the answer is whole at the blank line behind it, in whatever pieces and with whatever ends of lines", () => {
  for (const end of ["\n", "\r\n"]) {
    const head = `${before}: a comment\n\nid: 3\nevent: message\ndata: `.replaceAll("\n", end);
    for (const data of [answer, answer.replace(",", `,${end}data:`), answer.replace("result", "error")]) {
      const text = `${head}${data}${end}${end}`;
      assert.is(takes(`${text}: more`, 1), bytes(text).length, JSON.stringify([end, data]));
      for (const size of [2, 3, 1_000]) assert.ok(takes(text, size), JSON.stringify([end, data, size]));
      assert.is(takes(`${head}${data}`, 1), undefined);
    }
  }
});

test("what is no stream, or brings no answer to the request, is read to its end", () => {
  assert.is(answerEvent(request)({ "content-type": "application/json" }), undefined);
  assert.is(answerEvent('{"method":"notifications/initialized"}')(stream), undefined);
  for (const data of ['{"id":7}', '{"id":"7","result":1}', "null", "7", '[{"id":7,"result":1}]'])
    assert.is(takes(`data: ${data}\n\n`, 1), undefined, data);
});

test("among events that are no JSON an answer is looked for a thousand times", () => {
  const behind = (count: number) => takes(`${"data: x\n\n".repeat(count)}data: ${answer}\n\n`, 1_000);
  assert.ok(behind(999));
  assert.is(behind(1_000), undefined);
});

test("a server that ends behind the answer keeps its connection, one that does not is left", async () => {
  const open = new Set<object>();
  const server = createServer((asked, response) => {
    response.writeHead(200, stream);
    response.write(`data: ${answer}\n\n`);
    if (asked.url === "/ends") setImmediate(() => response.end());
  });
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const guarded = guardedFetch();
  const ask = (path: string) =>
    guarded(`http://127.0.0.1:${port}${path}`, { method: "POST", body: request, enough: answerEvent(request) });
  try {
    for (const path of ["/ends", "/stays", "/stays"]) {
      const told = await ask(path);
      assert.is(textOf(told), `data: ${answer}\n\n`);
      assert.ok(told.ok && !told.truncated);
      if (path === "/ends") await new Promise((done) => setTimeout(done, 50));
    }
    assert.is(open.size, 2, "the first connection served twice");
  } finally {
    await guarded.close();
    server.closeAllConnections();
    server.close();
  }
});

test.run();
