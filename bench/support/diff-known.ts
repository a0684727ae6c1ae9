/** What is known to have changed between published releases, from reading them: a comparison must find each. */
import type { DiffFinding } from "../../generator/diff/finding.js";

export interface KnownChange {
  /** The two releases. */
  readonly pair: string;
  readonly what: string;
  found(findings: readonly DiffFinding[]): boolean;
}

type Wanted = Partial<Pick<DiffFinding, "rule" | "tool" | "side" | "at">> & { readonly says?: string };

const matching = (findings: readonly DiffFinding[], { says = "", ...wanted }: Wanted): DiffFinding[] =>
  findings.filter(
    (one) =>
      one.message.includes(says) &&
      Object.entries(wanted).every(([key, value]) => one[key as keyof typeof one] === value),
  );

const has =
  (wanted: Wanted, least = 1) =>
  (findings: readonly DiffFinding[]): boolean =>
    matching(findings, wanted).length >= least;

const hasBroken =
  (wanted: Wanted, least = 1) =>
  (findings: readonly DiffFinding[]): boolean =>
    matching(findings, wanted).filter(({ verdict }) => verdict === "broken").length >= least;

const BETA = "3.1.19 3.2.0-beta.0";
const MINOR = "3.0.26 3.1.0";

export const knownChanges: readonly KnownChange[] = [
  { pair: BETA, what: "get_products writes now", found: hasBroken({ rule: "tool-mutating", tool: "get_products" }) },
  { pair: BETA, what: "four tools deprecated", found: has({ rule: "tool-deprecated" }, 4) },
  { pair: BETA, what: "nine tools added", found: has({ rule: "tool-added" }, 9) },
  {
    pair: BETA,
    what: "creative_approval removed",
    found: hasBroken({ rule: "tool-removed", tool: "creative_approval" }),
  },
  {
    pair: "3.1.0-beta.0 3.1.0",
    what: "status demanded at the root of answers, by way of allOf",
    found: (findings) =>
      findings.filter(
        ({ side, at, message, verdict }) =>
          side === "answer" && at === "" && message.includes('"status"') && verdict === "broken",
      ).length >= 50,
  },
  {
    pair: MINOR,
    what: "check_governance answers verdict",
    found: hasBroken({ tool: "check_governance", side: "answer", says: '"verdict"' }),
  },
  {
    pair: MINOR,
    what: "report_plan_outcome answers outcome_state",
    found: hasBroken({ tool: "report_plan_outcome", side: "answer", says: '"outcome_state"' }),
  },
  {
    pair: MINOR,
    what: "comply_test_controller demands account",
    found: hasBroken({ tool: "comply_test_controller", side: "request", says: '"account"' }),
  },
  { pair: MINOR, what: "47 codes added", found: has({ rule: "code-added" }, 47) },
  { pair: MINOR, what: "seven tools added", found: has({ rule: "tool-added" }, 7) },
  { pair: MINOR, what: "two specialisms added", found: has({ rule: "specialism-added" }, 2) },
  {
    pair: "3.0.26 3.1.0-beta.0",
    what: "15 requests opened",
    found: has({ rule: "object-opened", side: "request", at: "" }, 15),
  },
  {
    pair: MINOR,
    what: "video_completions gone",
    found: hasBroken({ rule: "enum-value-removed", says: "video_completions" }),
  },
  { pair: MINOR, what: "loaded gone", found: hasBroken({ rule: "enum-value-removed", says: '"loaded"' }) },
  { pair: MINOR, what: "notUsed gone", found: hasBroken({ rule: "enum-value-removed", says: '"notUsed"' }) },
  {
    pair: "3.0.4 3.0.26",
    what: "supported_billing optional",
    found: has({ rule: "property-optional", says: '"supported_billing"' }),
  },
  {
    pair: "3.1.0 3.1.19",
    what: "completion_rate may be null",
    found: (findings) => findings.some(({ rule, at }) => rule === "type-widened" && at.endsWith("/completion_rate")),
  },
  {
    pair: "3.1.0 3.1.19",
    what: "list_creatives' format_id no longer demanded alone",
    found: has({ tool: "list_creatives", side: "answer", says: '"format_id"' }),
  },
  {
    pair: BETA,
    what: "a package's budget optional",
    found: has({ rule: "property-optional", says: '"budget"' }),
  },
];
