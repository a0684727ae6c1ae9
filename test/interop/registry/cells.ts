/** One line a method of a client: it works, or it is not offered and why. */

/** What became of one method. */
export interface ReportedCall {
  readonly method: string;
  /** It answered something; it answered that nothing is known; or it threw. */
  readonly outcome: "answered" | "nothing" | "threw";
  /** Of what was thrown: its text, with what the server said where the client tells it. */
  readonly detail: string;
  /** HTTP status, where the client tells it apart. */
  readonly status?: number | null;
}

export interface MethodCell {
  readonly method: string;
  /** `the client's`: it cannot be told by any registry. */
  readonly verdict: "works" | "not offered" | "the client's" | "FAILED";
  readonly why: string;
}

const isNotOffered = ({ detail, status }: ReportedCall): boolean =>
  status === 501 || /\b501\b|not_offered/.test(detail);

/** A method that is not offered must not be told as "not known": only a throw says so. */
export function judgeCall(called: ReportedCall): MethodCell {
  const { method, outcome, detail } = called;
  switch (outcome) {
    case "answered":
      return { method, verdict: "works", why: detail };
    case "nothing":
      return { method, verdict: "FAILED", why: "it was told that nothing is known of what is there" };
    case "threw":
      if (isNotOffered(called)) return { method, verdict: "not offered", why: reasonIn(detail) };
      return { method, verdict: "FAILED", why: detail.slice(0, 300) };
  }
}

const reasonIn = (detail: string): string => /"message":"([^"]*)"/.exec(detail)?.[1] ?? "the server says so (501)";
