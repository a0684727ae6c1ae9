/** The published storyboards of a release, run against an agent: `adbind-cli/conformance`. */

export { type AskOptions, supportedVersions } from "./ask.js";
export { type BuyerConformanceOptions, runBuyerConformance } from "./buyer/run.js";
export type { BuyerStart, BuyerTask } from "./buyer/types.js";
export { cachedSuite } from "./cached.js";
export { type CheckId, type CheckResult, checks, type ToolReport } from "./check/probe.js";
export { type AgentCheckOptions, type AgentCheckReport, checkAgent } from "./check/run.js";
export type { Phase, Storyboard, StoryboardCheck, StoryboardStep } from "./document.js";
export type { FaultyStep } from "./faulty-steps.js";
export { loadSuite, type Suite } from "./load.js";
export { htmlReport } from "./report/html.js";
export { junitReport } from "./report/junit.js";
export { markdownReport } from "./report/markdown.js";
export { redactedReport } from "./report/redact.js";
export { textReport } from "./report/text.js";
export {
  type ConformanceReport,
  type Counts,
  countsLine,
  type GradedCheck,
  type Skip,
  type SkipReason,
  type StepResult,
  type StepStatus,
  type StoryboardResult,
} from "./result.js";
export { type ConformanceOptions, runConformance } from "./run.js";
