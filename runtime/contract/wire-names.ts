/** Wire names that carry the protocol's word (decisions.md, "The protocol word"). */
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

export type WireNames = ReturnType<typeof wireNames>;
