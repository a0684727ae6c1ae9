/** Where the two sides differ, and what the published text says of it. */
import type { Release, SchemaDocuments } from "../../../runtime/contract/index.js";

interface Difference {
  readonly what: RegExp;
  readonly fault: RegExp;
  /** Only where the release's own files show it. */
  readonly holds: (documents: SchemaDocuments) => boolean;
  readonly because: string;
}

/** Does a schema of the release speak of something? */
const says = (documents: SchemaDocuments, schema: string, word: string): boolean =>
  documents[schema]?.includes(`"${word}"`) ?? false;

const differences: readonly Difference[] = [
  {
    what: /^product\..*the peer sends/,
    fault: /failed schema validation \(required\)/,
    holds: (documents) => !says(documents, "core/wholesale-feed-webhook.json", "product_payload_view"),
    because:
      "it builds notifications of every release by 3.2's schemas, which require product_payload_view; this one's have none",
  },
  {
    what: /^creative\.status_changed.*the peer sends/,
    fault: /failed schema validation \(enum\)/,
    holds: (documents) => !says(documents, "creative/creative-status-changed-webhook.json", "suspended"),
    because:
      "it builds notifications of every release by 3.2's schemas, which narrow the transitions that this one leaves open",
  },
];

/** @returns why a fault is none of ours; undefined where it is not explained */
export async function differenceOf(release: Release, what: string, fault: string): Promise<string | undefined> {
  const documents = await release.schemas();
  return differences.find((one) => one.what.test(what) && one.fault.test(fault) && one.holds(documents))?.because;
}
