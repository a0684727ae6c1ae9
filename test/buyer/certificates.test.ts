/** Agents whose certificates cannot be trusted, over real TLS: a call of them says what is wrong with the certificate. */
import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { createBuyer } from "../../runtime/buyer/index.js";
import { createWebBuyer } from "../../runtime/buyer/web.js";
import type { Failure } from "../../runtime/contract/index.js";
import { createGuardedFetch, type GuardedFetchOptions } from "../../runtime/net/index.js";

const pem = (name: string) => readFileSync(new URL(`../net/fixtures/loopback-test-only.${name}.pem`, import.meta.url));
const ca = pem("cert").toString();

/** What a call of an agent that is named so comes to. */
async function said(host: string, own: GuardedFetchOptions, server: ServerOptions = {}): Promise<string | undefined> {
  let heard = 0;
  const listening = createServer({ key: pem("key"), cert: pem("cert"), ...server }, (_request, response) => {
    heard += 1;
    response.end();
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const { port } = listening.address() as AddressInfo;
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  const fetch = createGuardedFetch({ allowLoopback: true, lookup, ...own });
  const agent = `https://${host}:${port}/mcp`;
  const buyer = createBuyer({ release, agent, fetch, retry: { attempts: 1 } });
  try {
    const { answer } = await buyer.call("get_products", { buying_mode: "brief", brief: "b" });
    assert.is(heard, 0, "nothing is sent");
    return (answer.data as Failure).errors[0]?.message;
  } finally {
    await buyer.close();
    await fetch.close();
    listening.closeAllConnections();
    listening.close();
  }
}

test("an agent whose certificate is not trusted is not called, and why not is told", async () => {
  const name = "receiver.example.com";
  assert.match(String(await said(name, {})), /tls_failed \(receiver\.example\.com: .*SELF_SIGNED_CERT/);
  assert.match(String(await said("stranger.example.com", { ca })), /tls_failed \(.*ERR_TLS_CERT_ALTNAME_INVALID/);
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
  assert.match(String(await said(name, { ca }, old)), /tls_failed \(.*PROTOCOL_VERSION/);
});

test("an agent that wants a certificate of its callers, or has a key that is too short, says so", async () => {
  const name = "receiver.example.com";
  const asking = { requestCert: true, rejectUnauthorized: true };
  // By TLS 1.3 it says so after the handshake, and hangs up.
  for (const maxVersion of ["TLSv1.3", "TLSv1.2"] as const)
    assert.match(
      String(await said(name, { ca }, { ...asking, maxVersion })),
      /tls_failed \(receiver\.example\.com: ERR_SSL_.*ALERT_(CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE)/,
      maxVersion,
    );
  const weak = { key: pem("weak-key"), cert: pem("weak-cert"), ciphers: "DEFAULT@SECLEVEL=0" };
  assert.match(String(await said(name, { ca: pem("weak-cert").toString() }, weak)), /tls_failed \(.*key too weak/);
});

test("a buyer on the platform's own fetch says what is wrong with a certificate, and that an answer was cut off", async () => {
  const serving = async (server: Server, scheme: string): Promise<string> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const agent = `${scheme}://localhost:${(server.address() as AddressInfo).port}/mcp`;
    const buyer = createWebBuyer({ release, agent, allowLocal: true, retry: { attempts: 1 } });
    try {
      const { answer } = await buyer.call("get_products", { buying_mode: "brief", brief: "b" });
      return String((answer.data as Failure).errors[0]?.message);
    } finally {
      await buyer.close();
      server.closeAllConnections();
      server.close();
    }
  };
  assert.match(
    await serving(createServer({ key: pem("key"), cert: pem("cert") }), "https"),
    /tls_failed \(.*SELF_SIGNED_CERT/,
  );
  const cut = createHttpServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 100 });
    response.write("{", () => response.socket!.destroy());
  });
  assert.match(await serving(cut, "http"), "connection_lost");
});

test("a name that is not found is no fault of a certificate, whatever it is called", async () => {
  const { fetch } = globalThis;
  for (const host of ["ssl.certificate.example", "TLS.example"]) {
    const cause = Object.assign(new Error(`getaddrinfo ENOTFOUND ${host.toLowerCase()}`), { code: "ENOTFOUND" });
    globalThis.fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
    const buyer = createWebBuyer({ release, agent: `https://${host}/mcp`, retry: { attempts: 1 } });
    try {
      const { answer } = await buyer.call("get_products", { buying_mode: "brief", brief: "b" });
      assert.match(String((answer.data as Failure).errors[0]?.message), "connect_failed", host);
    } finally {
      globalThis.fetch = fetch;
      await buyer.close();
    }
  }
});

test.run();
