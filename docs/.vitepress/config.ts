/** The docs site, as `./run docs` builds it: the pages of docs/ as they are, in one navigation, with search. */
import { readdirSync } from "node:fs";
import path from "node:path";
import { defineConfig } from "vitepress";
import { fragmentOf } from "../../cli/dev/reference/fragment.js";

const docs = path.resolve(import.meta.dirname, "..");

const page = (text: string, link: string) => ({ text, link: `/${link}` });

const guides = [
  {
    text: "Guides",
    items: [
      page("Install", "install"),
      page("Maintain an SDK", "maintainer"),
      page("Sell", "seller"),
      page("Buy", "buyer"),
      page("Receive webhooks", "receiver"),
      page("Send webhooks", "webhooks-out"),
      page("An outbox in your transaction", "outbox"),
      page("Deliveries on NATS", "deliveries-on-nats"),
      page("Run a registry", "registry"),
      page("Test an agent", "conformance"),
      page("Every specialism on every release", "matrix"),
    ],
  },
  {
    text: "Releases",
    items: [page("Compare two", "diff"), page("Upgrade to one", "upgrade"), page("Look one up", "explorer")],
  },
  {
    text: "Operate",
    items: [
      page("Runbook", "runbook"),
      page("The database", "database"),
      page("Migrations", "migrations"),
      page("Beyond one machine", "scaling"),
      page("State in several databases", "split"),
      page("Deploying", "deploy/"),
      page("Figures", "figures"),
      page("Security", "security"),
      page("Configuration of a registry", "registry-configuration"),
    ],
  },
  {
    text: "Work on it",
    items: [page("Architecture", "architecture"), page("Releasing", "releasing"), page("Glossary", "glossary")],
  },
];

const protocol = [
  {
    text: "The protocol",
    items: [
      page("Parties, authority, names", "protocol/"),
      page("Manifest and releases", "protocol/manifest"),
      page("Tasks", "protocol/tasks"),
      page("Transports", "protocol/transports"),
      page("Webhooks", "protocol/webhooks"),
      page("Signing", "protocol/signing"),
      page("Errors and recovery", "protocol/errors"),
      page("Registry", "protocol/registry"),
      page("Files and discovery", "protocol/files"),
      page("Release lines", "protocol/eras"),
      page("Conformance", "protocol/conformance"),
    ],
  },
];

const entries = readdirSync(path.join(docs, "reference/api"))
  .map((file) => path.basename(file, ".md"))
  .filter((name) => name !== "index")
  .sort();

const reference = [
  {
    text: "Reference",
    items: [
      page("Commands", "reference/cli"),
      page("Error codes", "reference/errors"),
      page("Events", "reference/events"),
      page("Metrics", "reference/metrics"),
      page("Configuration", "reference/configuration"),
    ],
  },
  {
    text: "API",
    items: [page("Entries", "reference/api/"), ...entries.map((name) => page(name, `reference/api/${name}`))],
  },
];

/** A link of the page on deploying to one of its files. */
const DEPLOYED = /\[[^\]]*\]\(((?:[\w-]+\/)?(?:Dockerfile(?:\.\w+)?|[\w-]+\.(?:yaml|cfg|conf|ts)))\)/g;

export default defineConfig({
  title: "adbind",
  description: "Typed bindings, signed webhooks and durable delivery for advertising agents",
  lang: "en",
  // None is drawn yet; without a word on it browsers ask for one.
  head: [["link", { rel: "icon", href: "data:," }]],
  base: process.env.DOCS_BASE ?? "/",
  outDir: path.resolve(docs, "../site"),
  cacheDir: path.resolve(docs, "../.cache/vitepress"),
  srcExclude: ["examples/**"],
  cleanUrls: false,
  markdown: {
    // Comments of the sources name headings as GitHub does.
    anchor: { slugify: fragmentOf },
    // Pages are text: `<release>` and `{{runner.url}}` are what they look like.
    html: false,
    linkify: false,
    config(md) {
      md.core.ruler.before("normalize", "comments", (state) => {
        // Examples are files of the repository, and no pages.
        state.src = state.src
          .replace(/^<!--.*-->\n/gm, "")
          .replace(/\[`?([^\]`]*)`?\]\((?:\.\/)?(examples\/[^)\s]*)\)/g, (_all, text: string, file: string) =>
            file.endsWith(text) ? `\`docs/${file}\`` : `${text} (\`docs/${file}\`)`,
          )
          .replace(DEPLOYED, (_all, file: string) => `\`docs/deploy/${file}\``);
      });
      const plain = (text = ""): string => md.utils.escapeHtml(text).replace(/\{/g, "&#123;");
      md.renderer.rules.text = (tokens, index) => plain(tokens[index]?.content);
      md.renderer.rules.code_block = (tokens, index, options, env, self) => {
        const token = tokens[index];
        if (token !== undefined) token.info = "txt";
        return md.renderer.rules.fence?.(tokens, index, options, env, self) ?? "";
      };
      md.renderer.rules.code_inline = (tokens, index) => `<code>${plain(tokens[index]?.content)}</code>`;
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    nav: [
      page("Guides", ""),
      page("Protocol", "protocol/"),
      page("Reference", "reference/"),
      page("Runbook", "runbook"),
      // Built beside the pages, and no part of them.
      ...(process.env.DOCS_EXPLORER === "yes" ? [{ ...page("Releases", "explorer/index.html"), target: "_self" }] : []),
    ],
    sidebar: { "/protocol/": protocol, "/reference/": reference, "/": guides },
    docFooter: { prev: false, next: false },
  },
});
