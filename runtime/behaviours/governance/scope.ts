/** Where, when and on what a plan lets its money be spent. */
import { marketsOf, outsideOf } from "./markets.js";
import type { SpendingPlan } from "./plan.js";
import type { ProposedAction } from "./proposal.js";
import type { Findings, GovernanceCondition } from "./verdict.js";

/** What is asked before it is done may be put right; what is about to be done is not allowed as it is. */
function outOfScope(
  verdict: Findings,
  execution: boolean,
  [category, condition]: readonly [category: string, GovernanceCondition],
): void {
  if (execution) verdict.deny(category, condition.reason);
  else verdict.demand(condition, category);
}

function judgeFlight(verdict: Findings, plan: SpendingPlan, proposal: ProposedAction, execution: boolean): void {
  const [start, end] = [Date.parse(plan.flight.start), Date.parse(plan.flight.end)];
  const flight = `${plan.flight.start} to ${plan.flight.end}`;
  if (proposal.start !== undefined && (proposal.start < start || proposal.start >= end)) {
    const reason = `The action starts outside the plan's flight (${flight}).`;
    outOfScope(verdict, execution, [
      "strategic_alignment",
      { field: "start_time", reason, required_value: plan.flight.start },
    ]);
  }
  if (proposal.end !== undefined && (proposal.end > end || proposal.end <= start)) {
    const reason = `The action ends outside the plan's flight (${flight}).`;
    outOfScope(verdict, execution, [
      "strategic_alignment",
      { field: "end_time", reason, required_value: plan.flight.end },
    ]);
  }
}

/** @param execution whoever carries it out says what it will do, and asks for no counterproposal */
export function judgeScope(verdict: Findings, plan: SpendingPlan, proposal: ProposedAction, execution: boolean): void {
  judgeFlight(verdict, plan, proposal, execution);
  const abroad = outsideOf(marketsOf(plan), proposal.areas);
  if (abroad.length > 0) {
    const reason = `The plan is not for ${abroad.join(", ")}.`;
    const narrower = outsideOf(plan.countries, proposal.areas).length === 0 && plan.regions !== undefined;
    const [field, required_value] = narrower ? ["regions", plan.regions] : ["countries", plan.countries];
    outOfScope(verdict, execution, ["geo_compliance", { field: field as string, reason, required_value }]);
  }
  const allowed = plan.channels?.allowed;
  if (allowed === undefined) return;
  const refused = (names: readonly string[]): string[] => names.filter((channel) => !allowed.includes(channel));
  const said = refused(proposal.channels);
  const guessed = refused(namedChannels(proposal)).filter((channel) => !said.includes(channel));
  const reasonFor = (names: readonly string[]): string => `The plan does not allow ${names.join(", ")}.`;
  if (said.length > 0)
    outOfScope(verdict, execution, [
      "strategic_alignment",
      { field: "planned_delivery.channels", reason: reasonFor(said) },
    ]);
  if (guessed.length > 0) verdict.demand({ field: "packages", reason: reasonFor(guessed) }, "strategic_alignment");
}

/** Channels a product can be told to be on by its words. */
const channels = ["display", "olv", "ctv", "social", "search", "radio", "podcast", "dooh", "ooh", "print", "gaming"];

const namedChannels = ({ words }: ProposedAction): string[] => channels.filter((channel) => words.has(channel));
