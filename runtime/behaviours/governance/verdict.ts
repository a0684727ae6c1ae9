/** What is found when an action is judged, and the decision that follows. */

export interface GovernanceFinding {
  category_id: string;
  severity: "info" | "warning" | "critical";
  explanation: string;
  policy_id?: string;
  confidence?: number;
  details?: { [key: string]: unknown };
}

export interface GovernanceCondition {
  field: string;
  reason: string;
  required_value?: unknown;
}

export type GovernanceDecision = "approved" | "denied" | "conditions";

export interface Judgement {
  readonly decision: GovernanceDecision;
  readonly findings: readonly GovernanceFinding[];
  readonly conditions: readonly GovernanceCondition[];
}

/** Collects what is found; the decision follows from it. */
export class Findings {
  readonly findings: GovernanceFinding[] = [];
  readonly conditions: GovernanceCondition[] = [];

  deny(category_id: string, explanation: string, more: Partial<GovernanceFinding> = {}): void {
    this.findings.push({ category_id, severity: "critical", explanation, confidence: 1, ...more });
  }

  demand(condition: GovernanceCondition, category_id: string, more: Partial<GovernanceFinding> = {}): void {
    this.conditions.push(condition);
    this.findings.push({ category_id, severity: "warning", explanation: condition.reason, confidence: 1, ...more });
  }

  note(category_id: string, explanation: string, more: Partial<GovernanceFinding> = {}): void {
    this.findings.push({ category_id, severity: "info", explanation, ...more });
  }

  done(): Judgement {
    const denied = this.findings.some(({ severity }) => severity === "critical");
    const decision = denied ? "denied" : this.conditions.length > 0 ? "conditions" : "approved";
    return { decision, findings: this.findings, conditions: denied ? [] : this.conditions };
  }
}
