/** The published redirect vectors of the authorisation file, over an HTTP interceptor. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import nock from "nock";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createGuardedFetch, wellKnownRedirects } from "../../runtime/net/index.js";

interface Vector {
  id: string;
  target: "well_known" | "authoritative_location";
  origin_url: string;
  redirect_chain: { status: number; location: string }[];
  expected: { result: "resolved" | "refused"; reason?: string; final_url?: string };
}

/** Our code for a reason of the vectors; the last one is no code of ours: a redirect nobody allowed is an answer. */
const codeOf: Record<string, string> = {
  cross_registrable_domain: "redirect_cross_domain",
  scheme_downgrade: "redirect_downgrade",
  too_many_redirects: "redirect_limit",
  redirect_on_authoritative_location: "status 301",
};

const corpus = process.env.ADBIND_CORPUS ?? "../shared";
const file = path.join(corpus, "vectors/adagents-discovery-redirects.json");
const lookup = async () => [{ address: "93.184.215.14", family: 4 }];
const fetch: typeof globalThis.fetch = (...args) => globalThis.fetch(...args);

const hopsOf = (vector: Vector): URL[] =>
  [vector.origin_url, ...vector.redirect_chain.map((hop) => hop.location)].map((url) => new URL(url));

test.before(() => nock.disableNetConnect());
test.after(() => {
  nock.enableNetConnect();
  nock.restore();
});

if (!existsSync(file)) {
  test("redirect vectors are skipped where they are not there", () => console.log("skipped: no corpus"));
} else {
  const { vectors } = JSON.parse(readFileSync(file, "utf8")) as { vectors: Vector[] };
  test("at least twelve redirect vectors are there", () => assert.ok(vectors.length >= 12));
  for (const vector of vectors) {
    test(vector.id, async () => {
      const hops = hopsOf(vector);
      const scopes = hops.map((url, index) => {
        const reply = vector.redirect_chain[index];
        const scope = nock(url.origin).get(url.pathname);
        return reply === undefined
          ? scope.reply(200, "{}")
          : scope.reply(reply.status, "", { location: reply.location });
      });
      const guarded = createGuardedFetch({ lookup, fetch });
      const redirects = vector.target === "well_known" ? { redirects: wellKnownRedirects } : {};
      const result = await guarded(vector.origin_url, redirects);
      if (vector.expected.result === "resolved") {
        assert.equal(result.ok && [result.status, result.url], [200, vector.expected.final_url]);
        assert.ok(scopes.every((scope) => scope.isDone()));
      } else {
        assert.is(result.ok ? `status ${result.status}` : result.code, codeOf[vector.expected.reason ?? ""]);
        assert.not.ok(scopes.at(-1)?.isDone(), "the refused hop is not dialled");
      }
      nock.cleanAll();
    });
  }
}

test.run();
