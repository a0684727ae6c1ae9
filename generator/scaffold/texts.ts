/** What a project has beside its source: how it is installed, compiled, tested and explained. */

export interface ProjectFacts {
  /** For people. */
  readonly name: string;
  /** Name of the npm package. */
  readonly packageName: string;
  /** What the project installs adbind from. */
  readonly adbind: string;
  readonly word: string;
  readonly version: string;
  readonly specialisms: readonly string[];
  /** Versions of the further releases that are spoken, newest first. */
  readonly also?: readonly string[];
  readonly tools: readonly string[];
  /** Tools that answer UNSUPPORTED_FEATURE until somebody writes them. */
  readonly open: readonly string[];
}

const NODE = ">=22.20";

/** How a project names its bindings: the newest by no version, further ones by theirs. */
export const bindingsOf = (version: string) => ({
  "adbind-source": `./bindings/${version}/index.ts`,
  types: `./bindings/${version}/index.ts`,
  default: `./dist/bindings/${version}/index.js`,
});

export const packageJson = ({ packageName, adbind, version, also = [] }: ProjectFacts): string =>
  `${JSON.stringify(
    {
      name: packageName,
      version: "0.1.0",
      private: true,
      type: "module",
      engines: { node: NODE },
      imports: {
        "#bindings": bindingsOf(version),
        ...(also.length > 0 && { "#bindings/*": bindingsOf("*") }),
      },
      scripts: {
        build: "tsc -p tsconfig.json",
        types: "tsc -p tsconfig.json --noEmit",
        test: 'npm run build && node --test "dist/test/*.test.js"',
        start: "npm run build && node dist/src/serve.js",
      },
      dependencies: { adbind, jose: "^6.2.17" },
      devDependencies: { "@types/node": "^22.20.5", typescript: "5.9" },
    },
    null,
    2,
  )}\n`;

export const tsconfigJson = (): string =>
  `${JSON.stringify(
    {
      compilerOptions: {
        target: "es2023",
        lib: ["es2024"],
        module: "nodenext",
        moduleResolution: "nodenext",
        types: ["node"],
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        noImplicitOverride: true,
        noFallthroughCasesInSwitch: true,
        verbatimModuleSyntax: true,
        isolatedModules: true,
        skipLibCheck: true,
        incremental: true,
        tsBuildInfoFile: "dist/.tsbuildinfo",
        rootDir: ".",
        outDir: "dist",
      },
      include: ["src", "test", "bindings"],
    },
    null,
    2,
  )}\n`;

export const gitignore = (): string => ["node_modules/", "dist/", "data/", ".env", "signing-key.json", ""].join("\n");

const signing = [
  "| SIGNED_FROM | 50000 | guaranteed orders from this much on wait for a signature: in production for `signOrder` of src/domain/media-buys/approval.ts, in development for half a second |",
];

export function readme({ name, word, version, specialisms, tools, open }: ProjectFacts): string {
  return [
    `# ${name}`,
    "",
    `A seller that speaks ${word} ${version} over MCP and A2A and claims ${specialisms.join(", ")}.`,
    "",
    "    npm install",
    "    npm test",
    "    npm start",
    "",
    "It listens at http://127.0.0.1:3000: MCP at /mcp. Settings are environment variables:",
    "",
    "| Name | Default | |",
    "|---|---|---|",
    "| PORT, HOST | 3000, 127.0.0.1 | where it listens |",
    "| BASE_URL | http://HOST:PORT | where callers reach it; https in production |",
    "| DATA | data | folder of the database and of the key that signs webhooks |",
    "| DATABASE_URL | sqlite:DATA/seller.db | where state is kept; `postgres://user:password@host/database` is one that several processes may share |",
    "| SIGNING_KEY | DATA/signing-key.json | file of that key, a private JWK; made when missing |",
    "| MODE | development | `production` leaves the test controller out and delivers webhooks to public https only |",
    "| ISSUER | | OAuth issuer whose access tokens callers send; its metadata is read at the start |",
    "| TOKENS | | JSON of token -> who holds it, as bearer token or `x-api-key`; without it, and without ISSUER, everybody may call, as one caller, and production does not start |",
    ...(tools.includes("create_media_buy") ? signing : []),
    "",
    "Other ways to know a caller are an `auth` of `openSeller` in src/serve.ts.",
    "",
    "## More than one process",
    "",
    "Processes with one DATABASE_URL (PostgreSQL), BASE_URL and SIGNING_KEY are one seller behind any load balancer: they",
    "share documents, idempotency keys, tasks and the webhooks to be delivered. Each keeps a copy of the documents in memory",
    "(src/shelf-postgres.ts): what grows without end, such as delivery figures, gets tables of its own there.",
    "",
    "## Where things are",
    "",
    "- src/tools: one file per tool with its typed handler.",
    "- src/domain: how this seller behaves. It keeps JSON documents (src/documents.ts) on SQLite or PostgreSQL",
    "  (src/shelf*.ts); what a call writes is committed with its answer, exactly once.",
    "- src/fixtures.ts, src/domain/*/fixtures.ts: what it starts with. Replace the catalogue with yours.",
    "- src/domain/*/scenarios.ts: what the test controller can force in development.",
    "- bindings: types and schemas generated from the release; not edited by hand.",
    "- test: what must hold.",
    "",
    "To move to a newer release: `adbind new seller . --release <release>`. It adds bindings, tools and arms that are new and",
    "leaves every line of yours as it is.",
    "",
    `## Tools (${tools.length})`,
    "",
    ...tools.map((tool) => `- ${tool}${open.includes(tool) ? " (answers UNSUPPORTED_FEATURE)" : ""}`),
    "",
  ].join("\n");
}
