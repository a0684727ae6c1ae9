/**
 * Operations of other registries that this one has not. Clients take a 404 for "nobody knows of it", so an operation that
 * is not here is told apart: 501, and why.
 */
import { Problem } from "./problems.js";

/** What a path begins with -> why there is nothing; the first that fits. */
const reasons: readonly (readonly [path: RegExp, why: string])[] = [
  [/^\/api\/policies\b/, "Policies are documents of the registry that publishes them"],
  [/^\/api\/(?:storyboards|\.well-known\/jwks)\b/, "This registry certifies nobody; adbind conform runs storyboards"],
  [
    /^\/api\/registry\/agents\/(?:[^/]+\/(?:compliance|verification|badge|storyboard|applicable|lifecycle|monitoring|refresh|auth-status|connect|oauth)|storyboard)/,
    "This registry certifies and monitors no agents",
  ],
  [
    /^\/api\/(?:organizations|me|members)\b/,
    "Accounts are the operator's to make: adbind registry orgs, members and agents",
  ],
  [/^\/api\/registry\/mirrors?/, "A file here is a publisher's own, or hosted for it by the operator"],
  [
    /^\/api\/(?:brands|properties)\/(?:save|enrich|history|setup-my-brand|hosted)\b/,
    "What is known here comes from publishers' files, and is not written or looked up elsewhere",
  ],
  [
    /^\/api\/public\/agent-/,
    "This registry asks agents how they are and what they can do; for the rest ask the agent itself",
  ],
  [/^\/api\/registry\/(?:resolve|catalog)\b/, "There is no catalogue here beside what publishers' files say"],
];

/** Paths of the API; any other is a page's, and simply not there. */
const isApi = (path: string): boolean => /^\/(?:api|v1)(?:\/|$)/.test(path);

/** Undefined for what is no path of the API. */
export function notOffered(url: string): Problem | undefined {
  const path = url.split("?", 1)[0]!;
  if (!isApi(path)) return undefined;
  const why = reasons.find(([begins]) => begins.test(path))?.[1];
  return new Problem(501, "Not offered here", {
    code: "not_offered",
    message: why ?? "This registry has no such operation; /openapi.json lists what it has",
  });
}
