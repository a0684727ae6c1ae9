/** Wire names that carry the protocol's word (docs/protocol/manifest.md#protocol-word). */
export const wireNames = (word: string) => ({
  version: `${word}_version`,
  keyUse: `${word}_use`,
  error: `${word}_error`,
  hmacSignatureHeader: `x-${word}-signature`,
  hmacTimestampHeader: `x-${word}-timestamp`,
  webhookTag: `${word}/webhook-signing/v1`,
  requestTag: `${word}/request-signing/v1`,
  capabilitiesTool: `get_${word}_capabilities`,
});

/** Names on the wire that carry the protocol's word. */
export type WireNames = ReturnType<typeof wireNames>;

/** A version as the wire has it, without its patch: `3.1.0` as `3.1`, `3.2.0-beta.1` as `3.2-beta.1`. */
export const shortVersion = (version: string): string => version.replace(/^(\d+)\.(\d+)\.\d+/, "$1.$2");
