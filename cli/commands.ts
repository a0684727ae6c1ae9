/** Every command, for the program that runs them and the page that lists them. */
import type { Command } from "commander";

/** Name -> one line of help, and the module whose `register(command)` declares arguments, options and the action. */
export const commands = {
  generate: { help: "typed bindings from releases", load: () => import("./generate.js") },
  releases: {
    help: "releases that can be named or lie in a folder, and what one says of itself: list, show",
    load: () => import("./releases.js"),
  },
  lint: { help: "a release against the rules of the manifest", load: () => import("./lint.js") },
  diff: { help: "what changed between two releases, and whom it breaks", load: () => import("./diff.js") },
  explorer: {
    help: "a site to look releases up in; serve watches a folder of them",
    load: () => import("./explorer.js"),
  },
  explain: {
    help: "what a release says of a code, tool, field or specialism; what a finding means",
    load: () => import("./explain.js"),
  },
  upgrade: {
    help: "a project onto a newer release: a worksheet, and what is safe to change",
    load: () => import("./upgrade.js"),
  },
  new: { help: "a seller to start from", load: () => import("./new.js") },
  call: { help: "one tool of an agent, from the terminal", load: () => import("./call.js") },
  tools: { help: "what an agent offers", load: () => import("./tools.js") },
  auth: { help: "why an agent refuses: diagnose", load: () => import("./auth.js") },
  check: { help: "a live agent against what a specialism asks of it", load: () => import("./check.js") },
  conform: {
    help: "the published storyboards of a release, run against a live agent",
    load: () => import("./conform.js"),
  },
  keys: { help: "signing keys: generate, rotate, remove, jwks", load: () => import("./keys.js") },
  webhook: { help: "sign, verify, send or print webhooks by hand", load: () => import("./webhook.js") },
  inbox: { help: "webhooks a receiver holds: list, replay, drop", load: () => import("./inbox.js") },
  outbox: {
    help: "webhooks a sender holds: list, show, retry, replay, move, drop, pause, serve",
    load: () => import("./outbox.js"),
  },
  deliver: {
    help: "what outboxes hold, sent: a deliverer of one database or many",
    load: () => import("./deliver.js"),
  },
  db: { help: "the schema of a database: print, apply, compare", load: () => import("./db.js") },
  split: {
    help: "a receiver's store in several databases: add or remove one while traffic flows",
    load: () => import("./split.js"),
  },
  plan: {
    help: "what delivering a load takes: processes, databases, disk, and the next wall",
    load: () => import("./plan.js"),
  },
  registry: {
    help: "the agent registry: serve, import, export, crawl, doctor, orgs, users, keys",
    load: () => import("./registry.js"),
  },
} satisfies Record<string, { help: string; load: () => Promise<{ register: (command: Command) => void }> }>;
