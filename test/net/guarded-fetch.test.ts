/** Real sockets on loopback: what is sent, and what is taken back. */
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { gzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { createGuardedFetch } from "../../runtime/net/index.js";
import { cleanUp, cleanups, codeOf, guardedFetch, listen, serve, textOf } from "./loopback-server.js";

const test = suite("guarded fetch");
test.after.each(cleanUp);

test("a request goes out as asked, under the name it was given", async () => {
  const seen: unknown[] = [];
  const port = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { host, "content-type": type, "accept-encoding": encoding, "user-agent": agent } = request.headers;
      seen.push([request.method, request.url, host, type, encoding, agent, Buffer.concat(chunks).toString()]);
      response.writeHead(202, { "X-Answer": "yes", "set-cookie": ["a=1", "b=2"] }).end("taken");
    });
  });
  const result = await guardedFetch()(`http://seller.example.com:${port}/a/%2E%2E/b//c?q=%7e&y=#part`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode('{"a":1}'),
  });
  assert.equal(seen, [
    [
      "POST",
      "/a/%2E%2E/b//c?q=%7e&y=",
      `seller.example.com:${port}`,
      "application/json",
      "identity",
      "adbind",
      '{"a":1}',
    ],
  ]);
  assert.ok(result.ok);
  assert.is(result.status, 202);
  assert.is(result.headers["x-answer"], "yes");
  assert.is(result.headers["set-cookie"], "a=1, b=2");
  assert.is(textOf(result), "taken");
  assert.not.ok(result.truncated);
});

test("a URL without a path, or with a query alone, asks for the root", async () => {
  const paths: (string | undefined)[] = [];
  const port = await serve((request, response) => {
    paths.push(request.url);
    response.end();
  });
  const guarded = guardedFetch();
  await guarded(`http://seller.example.com:${port}`);
  await guarded(`http://127.0.0.1:${port}?a=b`);
  assert.equal(paths, ["/", "/?a=b"]);
});

test("the cap counts bytes that arrive, whatever the peer announces", async () => {
  const port = await serve((request, response) => {
    if (request.url === "/announced") response.setHeader("content-length", 11);
    response.write("0123456789");
    setImmediate(() => response.end(request.url === "/exact" ? "" : "X"));
  });
  const guarded = guardedFetch();
  const get = (path: string, oversize: "refuse" | "truncate" = "refuse") =>
    guarded(`http://seller.example.com:${port}${path}`, { maxBytes: 10, oversize });
  assert.is(textOf(await get("/exact")), "0123456789");
  assert.is(codeOf(await get("/announced")), "too_large");
  assert.is(codeOf(await get("/chunked")), "too_large");
  const cut = await get("/chunked", "truncate");
  assert.is(textOf(cut), "0123456789");
  assert.ok(cut.ok && cut.truncated);
});

test("an endless body ends at the cap", async () => {
  const port = await serve((_request, response) => {
    const timer = setInterval(() => response.write(Buffer.alloc(64 * 1024)), 1);
    response.on("close", () => clearInterval(timer));
  });
  const result = await guardedFetch()(`http://seller.example.com:${port}/`, { maxBytes: 1024 * 1024 });
  assert.is(codeOf(result), "too_large");
});

test("a compressed answer is refused unread", async () => {
  const port = await serve((request, response) => {
    response.setHeader("content-encoding", "gzip");
    response.end(request.url === "/empty" ? "" : gzipSync(Buffer.alloc(10_000_000)));
  });
  const guarded = guardedFetch();
  assert.is(codeOf(await guarded(`http://seller.example.com:${port}/`)), "encoding_refused");
  assert.is(codeOf(await guarded(`http://seller.example.com:${port}/empty`)), "status 200");
});

test("where only the head matters, a body that hangs, is cut or has no end changes nothing", async () => {
  const port = await serve((request, response) => {
    response.writeHead(request.url === "/gone" ? 410 : 200, { "retry-after": "7" });
    if (request.url === "/cut") return void response.write("half", () => response.destroy());
    if (request.url === "/endless") {
      const timer = setInterval(() => response.write(Buffer.alloc(64 * 1024)), 1);
      return void response.on("close", () => clearInterval(timer));
    }
    response.write("x");
    if (request.url !== "/hangs") response.end();
  });
  const guarded = guardedFetch();
  for (const [path, status] of Object.entries({
    "/": 200,
    "/gone": 410,
    "/cut": 200,
    "/endless": 200,
    "/hangs": 200,
  })) {
    const result = await guarded(`http://seller.example.com:${port}${path}`, { readBody: false, maxBytes: 10 });
    assert.is(codeOf(result), `status ${status}`, path);
    assert.ok(result.ok && result.headers["retry-after"] === "7" && result.body.length === 0);
  }
});

test("a body that is read briefly never changes the status: what came of it is told, cut", async () => {
  const port = await serve((request, response) => {
    response.writeHead(request.url === "/taken" ? 200 : 409);
    if (request.url === "/cut") return void response.write("half", () => response.destroy());
    response.write("words");
    if (request.url === "/") response.end();
  });
  const readBody = (status: number) => (status === 200 ? false : "briefly");
  const ownFetch: typeof fetch = (url, init) => fetch(String(url).replace("seller.example.com", "127.0.0.1"), init);
  for (const guarded of [guardedFetch(), guardedFetch({ fetch: ownFetch })]) {
    const get = async (path: string, maxBytes: number) => {
      // Only what hangs is waited for so long.
      const timeouts = { totalMs: path === "/hangs" ? 1_500 : 30_000 };
      const url = `http://seller.example.com:${port}${path}`;
      const result = await guarded(url, { readBody, maxBytes, oversize: "truncate", timeouts });
      return result.ok ? [result.status, new TextDecoder().decode(result.body), result.truncated] : result.code;
    };
    assert.equal(await get("/", 10), [409, "words", false]);
    assert.equal(await get("/", 3), [409, "wor", true]);
    assert.equal(await get("/cut", 10), [409, "half", true]);
    assert.equal(await get("/hangs", 10), [409, "words", true]);
    assert.equal(await get("/taken", 10), [200, "", false]);
  }
});

test("a caller who has given up before is told so", async () => {
  const port = await serve((_request, response) => response.end());
  const result = await guardedFetch()(`http://seller.example.com:${port}/`, { signal: AbortSignal.abort() });
  assert.is(codeOf(result), "aborted");
});

test("a redirect is an answer unless the caller allows some", async () => {
  const port = await serve((_request, response) => response.writeHead(302, { location: "/next" }).end());
  const guarded = guardedFetch();
  assert.is(codeOf(await guarded(`http://seller.example.com:${port}/`)), "status 302");
  assert.is(codeOf(await guarded(`http://seller.example.com:${port}/`, { method: "POST", body: "x" })), "status 302");
  try {
    await guarded("http://seller.example.com/", { method: "POST", redirects: { hops: 1, scope: "any" } });
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof AdbindError && error.code === "net_option_invalid");
  }
});

test("redirects are followed within their hops and scope, without credentials elsewhere, and each address is checked", async () => {
  const seen: (string | undefined)[][] = [];
  const port = await serve((request, response) => {
    seen.push([request.headers.host?.split(":")[0], request.url, request.headers.authorization]);
    const to = new URL(request.url ?? "/", "http://x").searchParams.get("to");
    if (to === null) response.end("arrived");
    else response.writeHead(302, { location: to }).end();
  });
  const lookup = async (name: string) => [{ address: name.startsWith("inner.") ? "10.0.0.1" : "127.0.0.1", family: 4 }];
  const guarded = guardedFetch({ lookup });
  const go = (to: string, scope: "registrable-domain" | "any" = "registrable-domain", hops = 3) =>
    guarded(`http://seller.example.com:${port}/?to=${encodeURIComponent(to)}`, {
      headers: { Authorization: "Bearer x" },
      redirects: { hops, scope },
    });
  assert.is(textOf(await go("/here")), "arrived");
  assert.equal(seen.at(-1), ["seller.example.com", "/here", "Bearer x"]);
  assert.is(textOf(await go(`http://www.example.com:${port}/there`)), "arrived");
  assert.equal(seen.at(-1), ["www.example.com", "/there", undefined]);
  const before = seen.length;
  assert.is(codeOf(await go(`http://other.example.net:${port}/`)), "redirect_cross_domain");
  assert.is(codeOf(await go(`http://inner.example.com:${port}/`)), "address_refused");
  assert.is(codeOf(await go("http://10.0.0.1/")), "host_refused");
  assert.is(codeOf(await go("http://user@seller.example.com/")), "userinfo_refused");
  assert.is(codeOf(await go("\\\\other.example.net/")), "redirect_malformed");
  assert.is(codeOf(await go("gopher://seller.example.com/")), "scheme_refused");
  assert.is(codeOf(await go("/here", "any", 0)), "redirect_limit");
  assert.is(seen.length - before, 7, "none of these reached a second host");
  assert.is(textOf(await go(`http://other.example.net:${port}/`, "any")), "arrived");
});

test("a request without headers, a silent body and a trickle end in time, and when the caller ends them", async () => {
  const port = await serve((request, response) => {
    if (request.url === "/headers") return;
    response.write("a");
    if (request.url === "/silent") return;
    const timer = setInterval(() => response.write("a"), 20);
    response.on("close", () => clearInterval(timer));
  });
  const guarded = guardedFetch();
  const get = (path: string, request = {}) => guarded(`http://seller.example.com:${port}${path}`, request);
  assert.is(codeOf(await get("/headers", { timeouts: { readMs: 100 } })), "read_timeout");
  assert.is(codeOf(await get("/silent", { timeouts: { readMs: 100 } })), "read_timeout");
  assert.is(codeOf(await get("/trickle", { timeouts: { totalMs: 200 } })), "total_timeout");
  assert.is(codeOf(await get("/trickle", { signal: AbortSignal.timeout(100) })), "aborted");
  assert.is(codeOf(await get("/trickle", { signal: AbortSignal.abort() })), "aborted");
});

test("a resolver, a TCP or a TLS handshake that hangs ends at the connect limit", async () => {
  const port = await listen(createTcpServer((socket) => cleanups.push(() => void socket.destroy())));
  const timeouts = { connectMs: 100 };
  const silent = guardedFetch({ timeouts });
  assert.is(codeOf(await silent(`https://seller.example.com:${port}/`)), "connect_timeout");
  const hanging = guardedFetch({ timeouts, lookup: () => new Promise(() => undefined) });
  assert.is(codeOf(await hanging(`https://seller.example.com:${port}/`)), "connect_timeout");
});

test("broken peers are values", async () => {
  const reset = await listen(createTcpServer((socket) => socket.once("data", () => socket.resetAndDestroy())));
  const half = await listen(
    createTcpServer((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc")),
    ),
  );
  const noise = await listen(createTcpServer((socket) => socket.once("data", () => socket.end("SSH-2.0-x\r\n\r\n"))));
  const wide = await serve((_request, response) => response.setHeader("x-wide", "w".repeat(40_000)).end());
  const closed = createTcpServer();
  const free = await listen(closed);
  await new Promise((resolve) => closed.close(resolve));
  const guarded = guardedFetch();
  const get = async (port: number) => codeOf(await guarded(`http://seller.example.com:${port}/secret-path?token=t0k`));
  assert.is(await get(reset), "connection_lost");
  assert.is(await get(half), "connection_lost");
  assert.is(await get(noise), "response_malformed");
  assert.is(await get(wide), "response_malformed");
  assert.is(await get(free), "connect_failed");
  const failure = await guarded(`http://seller.example.com:${free}/secret-path?token=t0k`);
  assert.ok(!failure.ok && failure.retryable);
  assert.not.match(failure.ok ? "" : failure.detail, /secret-path|t0k/);
  const noName = guardedFetch({ lookup: () => Promise.reject(new Error("ENOTFOUND")) });
  assert.is(codeOf(await noName("https://seller.example.com/")), "dns_failed");
  const noAddress = guardedFetch({ lookup: async () => [] });
  assert.is(codeOf(await noAddress("https://seller.example.com/")), "dns_failed");
});

test("wrong options and requests throw, with a code", async () => {
  for (const options of [
    { ports: [] },
    { ports: [0] },
    { timeouts: { totalMs: 0 } },
    { timeouts: { readMs: Number.NaN } },
  ]) {
    assert.throws(
      () => createGuardedFetch(options),
      (error: unknown) => error instanceof AdbindError && error.code === "net_option_invalid",
    );
  }
  const guarded = guardedFetch();
  for (const request of [{ headers: { Host: "x" } }, { headers: { "x-a": "a\r\nb: c" } }, { maxBytes: -1 }]) {
    const error = await guarded("http://127.0.0.1:9/", request).catch((reason: unknown) => reason);
    assert.ok(error instanceof AdbindError && error.code === "net_option_invalid");
  }
});

test("many requests share connections", async () => {
  let connections = 0;
  const server = createServer((_request, response) => response.end("ok"));
  server.on("connection", () => {
    connections += 1;
  });
  const port = await listen(server);
  const guarded = guardedFetch();
  for (let index = 0; index < 20; index += 1) await guarded(`http://seller.example.com:${port}/`);
  // A second one may open while the first is still being put back.
  assert.ok(connections <= 2, `${connections} connections`);
});

test("closed any number of times it is as new: who is started again reaches what he reached before", async () => {
  const port = await serve((_request, response) => response.end("here"));
  const guarded = guardedFetch();
  for (let turn = 0; turn < 3; turn++) {
    assert.is(textOf(await guarded(`http://host.example:${port}/`)), "here");
    await Promise.all([guarded.close(), guarded.close()]);
  }
});

test.run();
