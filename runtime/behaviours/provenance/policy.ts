/** What products demand that a creative says of how it was made, and what is wrong with what one says. */
import type { ProtocolError } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import type { CreativeAsset, CreativeUpload, Provenance, VerifyAgent } from "../ports/creatives.js";
import type { AcceptedVerifier } from "../ports/provenance.js";

/** A product's demands; none where `provenance_required` is not true. */
export interface ProvenancePolicy {
  readonly provenance_required?: boolean;
  readonly provenance_requirements?: {
    readonly require_digital_source_type?: boolean;
    readonly require_disclosure_metadata?: boolean;
    readonly require_embedded_provenance?: boolean;
  };
  readonly accepted_verifiers?: readonly AcceptedVerifier[];
}

type Requirement = keyof NonNullable<ProvenancePolicy["provenance_requirements"]>;

/** What a creative says of itself; else what one of its assets does. */
export function provenanceOf({ provenance, assets }: CreativeUpload): Provenance | undefined {
  const all = Object.values(assets).flat() as (CreativeAsset & { readonly provenance?: Provenance })[];
  return provenance ?? all.find((one) => one.provenance !== undefined)?.provenance;
}

const demandsOf = (product: { readonly more?: object }): ProvenancePolicy =>
  (product.more as { creative_policy?: ProvenancePolicy } | undefined)?.creative_policy ?? {};

/** What every one of the products demands: a creative that one of them takes is taken. */
export function sharedPolicy(products: readonly { readonly more?: object }[]): ProvenancePolicy | undefined {
  const all = products.map(demandsOf);
  if (all.length === 0 || all.some((one) => one.provenance_required !== true)) return undefined;
  const each = (name: Requirement): boolean => all.every((one) => one.provenance_requirements?.[name] === true);
  return {
    provenance_required: true,
    provenance_requirements: {
      require_digital_source_type: each("require_digital_source_type"),
      require_disclosure_metadata: each("require_disclosure_metadata"),
      require_embedded_provenance: each("require_embedded_provenance"),
    },
    accepted_verifiers: all.flatMap(({ accepted_verifiers: own = [] }) => own),
  };
}

/** Who may be asked about a creative that names a verifier, whatever else its products demand: the verifiers any of them lists. */
export function listedVerifiers(
  products: readonly { readonly more?: object }[],
  upload: CreativeUpload,
): ProvenancePolicy {
  const said = provenanceOf(upload);
  if (said === undefined || namedVerifiers(said).length === 0) return {};
  return { accepted_verifiers: products.flatMap((one) => demandsOf(one).accepted_verifiers ?? []) };
}

/** Host and path as they are compared: case of scheme and host, default ports and dot segments mean nothing. */
const canonical = (url: string): string => {
  try {
    return new URL(url).href.replace(/\/$/, "");
  } catch {
    return url;
  }
};

export const verifierFor = (policy: ProvenancePolicy, { agent_url }: VerifyAgent): AcceptedVerifier | undefined =>
  policy.accepted_verifiers?.find((one) => canonical(one.agent_url) === canonical(agent_url));

/** Everything in a creative's provenance that names who can verify it. */
export const namedVerifiers = ({ embedded_provenance = [], watermarks = [] }: Provenance): readonly VerifyAgent[] =>
  [...embedded_provenance, ...watermarks].flatMap(({ verify_agent: one }) => one ?? []);

/** What is wrong with the form of what a creative says, by the policy it is held to. */
export function provenanceProblems(
  { shapes }: Pick<BehaviourCall, "shapes">,
  policy: ProvenancePolicy,
  upload: CreativeUpload,
  field: string,
): ProtocolError[] {
  const problem = (code: string, message: string, at: string): ProtocolError[] => [
    { code: shapes.knowsError(code) ? code : "CREATIVE_REJECTED", message, field: at, recovery: "correctable" },
  ];
  const said = provenanceOf(upload);
  const at = `${field}.provenance`;
  if (said === undefined) return problem("PROVENANCE_REQUIRED", "the creative says nothing of how it was made", at);
  const foreign = namedVerifiers(said).find((one) => verifierFor(policy, one) === undefined);
  const { require_digital_source_type: source, require_disclosure_metadata: disclosure } =
    policy.provenance_requirements ?? {};
  return [
    ...(source === true && said.digital_source_type == null
      ? problem(
          "PROVENANCE_DIGITAL_SOURCE_TYPE_MISSING",
          "it names no digital source type",
          `${at}.digital_source_type`,
        )
      : []),
    ...(foreign !== undefined && policy.accepted_verifiers !== undefined
      ? problem(
          "PROVENANCE_VERIFIER_NOT_ACCEPTED",
          `${foreign.agent_url} is none of the verifiers accepted here`,
          `${at}.embedded_provenance.verify_agent.agent_url`,
        )
      : []),
    ...(disclosure === true && typeof said.disclosure?.required !== "boolean"
      ? problem("PROVENANCE_DISCLOSURE_MISSING", "it does not say whether it must be disclosed", `${at}.disclosure`)
      : []),
    ...(policy.provenance_requirements?.require_embedded_provenance === true && !said.embedded_provenance?.length
      ? problem("PROVENANCE_EMBEDDED_MISSING", "nothing is embedded in it that proves it", `${at}.embedded_provenance`)
      : []),
  ];
}
