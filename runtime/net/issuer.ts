/** Where an OAuth issuer's keys are, by the metadata that it publishes. */

const TIMEOUT_MS = 5_000;
const MOST_BYTES = 1_048_576;

/** RFC 8414 section 3.1 puts the name before the issuer's path, OpenID Connect Discovery after it. */
const metadataUrls = ({ origin, pathname }: URL): string[] => {
  const path = pathname.replace(/\/$/, "");
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
};

/**
 * The URL of an issuer's keys; each place is waited for five seconds.
 * @param issuer its URL, as its metadata and tokens have it to the letter
 * @throws Error for an issuer that cannot be reached, that publishes no metadata, or another's
 */
export async function issuerKeysUrl(issuer: string, fetcher: typeof fetch): Promise<string> {
  for (const url of metadataUrls(new URL(issuer))) {
    const response = await fetcher(url, {
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { accept: "application/json" },
    });
    if (!response.ok) {
      await response.body?.cancel();
      continue;
    }
    const text = await response.text();
    if (text.length > MOST_BYTES) throw new Error("the metadata are too long");
    const metadata = JSON.parse(text) as { issuer?: unknown; jwks_uri?: unknown } | null;
    // RFC 8414 section 3.3: metadata of another issuer must not be used.
    if (metadata?.issuer !== issuer) throw new Error(`the metadata are another's: of ${String(metadata?.issuer)}`);
    if (typeof metadata.jwks_uri !== "string" || !URL.canParse(metadata.jwks_uri))
      throw new Error("the metadata name no keys");
    return metadata.jwks_uri;
  }
  throw new Error("the issuer has no metadata");
}
