/** Whether a brand vouches for who signed a claim about it. */
import { existsSync } from "node:fs";
import path from "node:path";
import { brandAuthorization, type Jwk, type JwkSet } from "../../runtime/signing/index.js";
import { canonicalUrl } from "../../runtime/url.js";
import { readJson } from "../signing/corpus.js";
import type { Folder, VectorGroup } from "./types.js";

interface BrandCase {
  readonly name: string;
  readonly input: {
    readonly envelope: { readonly brand_domain: string; readonly agent_url: string; readonly kid: string };
    readonly verified_jwk?: Jwk;
    readonly brand_json: unknown;
    readonly jwks_by_uri?: Readonly<Record<string, JwkSet>>;
  };
  readonly expected: object;
}

const sorted = (held: object): string => JSON.stringify(Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1)));

export function brandResponses(folder: Folder): VectorGroup[] {
  const file = path.join(folder.at, "brand-response-signing/brand-authorization-cross-check.json");
  if (!existsSync(file)) return [];
  const { cases } = readJson(file) as { cases: readonly BrandCase[] };
  const made = cases.map((one) => ({
    name: one.name,
    async run(word: string) {
      const { input, expected } = JSON.parse(JSON.stringify(one).replaceAll("adcp_use", `${word}_use`)) as BrandCase;
      const sets = new Map(
        Object.entries(input.jwks_by_uri ?? {}).map(([uri, set]) => {
          const form = canonicalUrl(uri, { unicodeHost: "convert" });
          return [form.ok ? form.url : uri, set];
        }),
      );
      const result = brandAuthorization({
        ...{ brandDomain: input.envelope.brand_domain, agentUrl: input.envelope.agent_url, kid: input.envelope.kid },
        ...(input.verified_jwk !== undefined && { verified: input.verified_jwk }),
        brandFile: input.brand_json,
        jwks: (uri) => sets.get(uri),
        word,
      });
      return sorted(result) === sorted(expected) ? undefined : `came to ${JSON.stringify(result)}`;
    },
  }));
  return [{ release: folder.label, suite: "brand-response-signing", group: "cross-check", cases: made }];
}
