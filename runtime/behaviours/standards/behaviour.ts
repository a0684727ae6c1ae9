import type { Behaviour, ToolBehaviour } from "../frame/behaviour.js";
import { listPage, type PageWanted } from "../frame/page.js";
import type { ContentArtifact } from "../ports/policy.js";
import { judgeContent } from "./judge.js";
import {
  accountIn,
  checkPolicies,
  findStandards,
  type KeptStandards,
  type StandardsNamed,
  type StatedStandards,
  shownStandards,
  standards,
} from "./kept.js";

const partsOf = ({ scope, policies, registry_policy_ids, calibration_exemplars }: StatedStandards): StatedStandards =>
  Object.fromEntries(
    Object.entries({ scope, policies, registry_policy_ids, calibration_exemplars }).filter(([, part]) => part),
  );

const create: ToolBehaviour = async (request: StatedStandards & Pick<StandardsNamed, "account">, call) => {
  const account = await accountIn(call, request);
  const kept: KeptStandards = {
    standards_id: call.id("cs"),
    ...(account !== undefined && { account_id: account }),
    scope: {},
    ...partsOf(request),
  };
  checkPolicies(kept);
  standards.put(call, call.principal, kept.standards_id, kept);
  return call.answer({ standards_id: kept.standards_id });
};

/** What is stated replaces what was there, part by part; content is judged by it from the next call on. */
const update: ToolBehaviour = async (request: StatedStandards & StandardsNamed, call) => {
  const kept: KeptStandards = { ...(await findStandards(call, request)), ...partsOf(request) };
  checkPolicies(kept);
  standards.put(call, call.principal, kept.standards_id, kept);
  return call.answer({ success: true, standards_id: kept.standards_id });
};

const get: ToolBehaviour = async (request: StandardsNamed, call) =>
  call.answer(shownStandards(await findStandards(call, request)));

interface Sought extends Pick<StandardsNamed, "account"> {
  readonly languages?: readonly string[];
  readonly channels?: readonly string[];
  readonly countries?: readonly string[];
  readonly pagination?: PageWanted;
}

const overlap = (asked: readonly string[] | undefined, own: readonly string[] | undefined): boolean =>
  asked === undefined || own === undefined || asked.some((one) => own.includes(one));

/** `list_content_standards`: those that have a say for any of the languages, channels and countries. */
const list: ToolBehaviour = async (request: Sought, call) => {
  const { languages, channels, countries } = request;
  const account = await accountIn(call, request);
  const found = (await standards.list(call, call.principal)).filter(
    ({ account_id, scope }) =>
      (account === undefined || account === account_id) &&
      overlap(languages, scope.languages_any) &&
      overlap(channels, scope.channels_any) &&
      overlap(countries, scope.countries_all),
  );
  const { items, pagination } = listPage(found, request.pagination, ({ standards_id }) => standards_id);
  return call.answer({ standards: items.map(shownStandards), pagination });
};

/** `calibrate_content`: what the standards make of one piece of content, and why. */
const calibrate: ToolBehaviour = async (request: StandardsNamed & { artifact: ContentArtifact }, call) => {
  const { verdict, features } = await judgeContent(call, await findStandards(call, request), request);
  const against = features.filter(({ status }) => status === "failed" || status === "warning");
  return call.answer({
    verdict,
    confidence: Math.min(...features.map(({ confidence = 1 }) => Math.max(confidence, 0.5)), 1),
    explanation:
      against.length === 0
        ? "Nothing in the content is against the standards."
        : against.map(({ policy_id = "", explanation = "" }) => `${policy_id}: ${explanation}`.trim()).join(" "),
    features,
  });
};

interface Delivered extends StandardsNamed {
  readonly records: readonly {
    readonly record_id: string;
    readonly artifact: ContentArtifact;
    readonly channel?: string;
  }[];
  readonly feature_ids?: readonly string[];
  readonly include_passed?: boolean;
}

/** `validate_content_delivery`: what the standards make of what was delivered, record by record. */
const validate: ToolBehaviour = async (request: Delivered, call) => {
  const kept = await findStandards(call, request);
  const featureIds = request.feature_ids;
  const results = [];
  for (const { record_id, artifact, channel } of request.records) {
    const more = { ...(channel !== undefined && { channel }), ...(featureIds !== undefined && { featureIds }) };
    results.push({ record_id, ...(await judgeContent(call, kept, { artifact, ...more })) });
  }
  const failed = results.filter(({ verdict }) => verdict === "fail");
  return call.answer({
    summary: {
      total_records: results.length,
      passed_records: results.length - failed.length,
      failed_records: failed.length,
    },
    results: request.include_passed === false ? failed : results,
  });
};

/** Standards that content beside advertising is held to. */
export const contentStandardsBehaviour: Behaviour = {
  area: "content-standards",
  needs: ["accounts", "creative-features", "content-artifacts"],
  tools: {
    create_content_standards: create,
    update_content_standards: update,
    get_content_standards: get,
    list_content_standards: list,
    calibrate_content: calibrate,
    validate_content_delivery: validate,
  },
  // Buyers look for this feature before they send standards, whoever keeps them.
  capabilities: () => ({ media_buy: { features: { content_standards: true } } }),
};
