/** How much JavaScript an entry may be. */

/**
 * Most JavaScript of ours an entry may pull in when it is loaded, in KiB: what a bundler or a cold start pays. An entry
 * that is not listed has no budget yet, and that fails too.
 */
export const budgets: Record<string, number> = {
  // Reading every form of a release is part of it; emitting and archives load on use.
  "adbind-cli": 184,
  "adbind/contract": 17,
  "adbind/standalone": 36,
  "adbind/validate": 31,
  // Bounds of what a hostile peer may hold, bodies in small pieces too, and forms of dates are part of it.
  "adbind/net": 59,
  // The profiles of every release line are part of it.
  "adbind/signing": 148,
  "adbind/signing/web": 146,
  // Asking an agent over both transports, and the rules of releases, are part of it.
  "adbind/signing/discovery": 181,
  "adbind/facts": 30,
  // What registries keep is part of it, lists and grants too; and what finds one of several databases, by sender and by
  // principal. The functions of the schema are text of it, and where an application's transaction is.
  "adbind/store": 372,
  // Both engines, with their tables, and what finds the primary of several servers.
  "adbind/db": 178,
  "adbind/queue": 385,
  // Judging a body alone, spans, finding keys by the release, and the job loop that queues have too are part of it.
  "adbind/receiver": 327,
  // Secrets, signers, retention, traces, proofs of endpoints, sets of standing notifications, what operators do, and deadlines
  // of what an application is asked.
  "adbind/sender": 881,
  "adbind/extract": 30,
  // Both transports, what a model is listed, and what mounts, traces and audits.
  "adbind/seller": 388,
  // The seller and the sender are part of it, with their stores; conversations, transformers and claims of brands too.
  "adbind/behaviours": 2231,
  // Ends of tasks, intents, routes, many agents, tokens in files, and answers to what tasks ask; OAuth and governance are
  // loaded where they are wanted.
  "adbind/buyer": 194,
  "adbind/buyer/web": 177,
  // Storyboards of sellers and of buyers, checks by a buyer without them, both transports, what plays a seller to a buyer, signs webhooks to it, and judges a run.
  "adbind-cli/conformance": 706,
  // Lists and checks of them, bulk lookups, logins and tokens, proofs of who owns a domain, and what of all that is kept; a search in parts;
  // the numbers of changes as each engine gives them.
  "adbind-cli/registry": 1495,
  "adbind/registry/client": 30,
  // A receiver on SQLite, with what signs and forges.
  "adbind/testing": 696,
};
