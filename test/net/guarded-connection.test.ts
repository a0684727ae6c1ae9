/** Real sockets on loopback: where the bytes go, and to whom. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer as createTcpServer } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createGuardedFetch } from "../../runtime/net/index.js";
import { cleanUp, codeOf, guardedFetch, listen, serve, textOf } from "./loopback-server.js";

const test = suite("guarded connection");
test.after.each(cleanUp);

const tls = {
  key: readFileSync(new URL("./fixtures/loopback-test-only.key.pem", import.meta.url)),
  cert: readFileSync(new URL("./fixtures/loopback-test-only.cert.pem", import.meta.url)),
};

test("TLS: the certificate is the name's, SNI is the name, the authority must be known", async () => {
  const names: unknown[] = [];
  const server = createTlsServer(tls, (request, response) => {
    names.push([(request.socket as { servername?: unknown }).servername, request.headers.host]);
    response.end("secure");
  });
  const port = await listen(server);
  const ca = tls.cert.toString();
  const trusting = guardedFetch({ allowHttp: false, ca });
  assert.is(textOf(await trusting(`https://receiver.example.com.:${port}/`)), "secure");
  assert.equal(names, [["receiver.example.com", `receiver.example.com:${port}`]]);
  assert.is(codeOf(await trusting(`https://stranger.example.com:${port}/`)), "tls_failed");
  assert.is(codeOf(await guardedFetch()(`https://receiver.example.com:${port}/`)), "tls_failed");
  const old = await listen(createTlsServer({ ...tls, maxVersion: "TLSv1.1", minVersion: "TLSv1" }));
  assert.is(codeOf(await trusting(`https://receiver.example.com:${old}/`)), "tls_failed");
  assert.is(names.length, 1);
});

test("a name that rebinds between check and connect reaches the checked address", async () => {
  const reached: string[] = [];
  const port = await serve((_request, response) => {
    reached.push("checked");
    response.setHeader("connection", "close").end();
  });
  await serve(() => reached.push("rebound"), "127.0.0.2", port);
  let asked = 0;
  const lookup = async () => [{ address: ++asked % 2 === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
  assert.is(codeOf(await guardedFetch({ lookup })(`http://seller.example.com:${port}/`)), "status 200");
  assert.equal([reached, asked], [["checked"], 1]);
});

test("a dialler that strays is noticed before a byte is sent", async () => {
  let bytes = 0;
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections += 1;
    socket.on("data", (chunk) => {
      bytes += chunk.length;
    });
  });
  const port = await listen(server);
  for (const scheme of ["http", "https"]) {
    // The name is public; the socket ends up on loopback, as a rewritten route or a poisoned cache would have it.
    const lookup = async () => [{ address: "93.184.215.14", family: 4 }];
    for (const allowLoopback of [true, false]) {
      const guarded = guardedFetch({ lookup, allowLoopback, dial: () => connect(port, "127.0.0.1") });
      assert.is(codeOf(await guarded(`${scheme}://seller.example.com:${port}/`)), "address_refused");
    }
  }
  assert.equal([connections, bytes], [4, 0]);
});

test("an IPv6 address in any spelling is the one its socket reports", async () => {
  const port = await listen(
    createServer((_request, response) => response.end("six")),
    "::1",
  );
  const lookup = async () => [{ address: "0:0:0:0:0:0:0:1", family: 6 }];
  // Only the short form is recognised as loopback: a long one is refused rather than guessed at.
  assert.is(codeOf(await guardedFetch({ lookup })(`http://seller.example.com:${port}/`)), "address_refused");
  assert.is(textOf(await guardedFetch()(`http://[::1]:${port}/`)), "six");
});

test("ports follow the policy", async () => {
  const guarded = createGuardedFetch({ ports: [443, 8443], lookup: async () => [{ address: "10.0.0.1", family: 4 }] });
  assert.is(codeOf(await guarded("https://seller.example.com:22/")), "port_refused");
  assert.is(codeOf(await guarded("https://seller.example.com/")), "address_refused");
  assert.is(codeOf(await guarded("https://seller.example.com:8443/")), "address_refused");
});

test.run();
