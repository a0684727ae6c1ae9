/** What a project has beside its source: how it is installed, compiled, tested and explained. */
import { rangeOf } from "../emit/disk.js";
import { readProjectPackages } from "./template-files.js";

export interface ProjectFacts {
  /** For people. */
  readonly name: string;
  /** Name of the npm package. */
  readonly packageName: string;
  /** What the project installs adbind from. */
  readonly adbind: string;
  /** What it installs the commands and the storyboards from. */
  readonly cli: string;
  readonly word: string;
  readonly version: string;
  readonly specialisms: readonly string[];
  /** Versions of the further releases that are served, newest first. */
  readonly also?: readonly string[];
  readonly tools: readonly string[];
  /** Tools that the specialisms name and nobody answers. */
  readonly open: readonly string[];
  /** Those of them without which a seller does not start. */
  readonly awaited: readonly string[];
}

const NODE = ">=22.20";

/** How a project names its bindings: the newest by no version, further ones by theirs. */
export const bindingsOf = (version: string) => ({
  "adbind-source": `./bindings/${version}/index.ts`,
  types: `./bindings/${version}/index.ts`,
  default: `./dist/bindings/${version}/index.js`,
});

/** Packages with the ranges that adbind is made for. */
const ranges = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, rangeOf(name)]));

/** `package.json` of a buyer. */
export const buyerPackageJson = (facts: ProjectFacts): string => {
  const { dependencies, devDependencies } = readProjectPackages().buyer;
  const { scripts, ...rest } = manifest(facts);
  return written({
    ...rest,
    scripts: { ...scripts, start: scripts.start.replace("serve.js", "main.js") },
    dependencies: sorted({ adbind: facts.adbind, ...ranges(dependencies) }),
    devDependencies: ranges(devDependencies),
  });
};

/** `package.json` of a seller. */
export const packageJson = (facts: ProjectFacts): string => {
  const { dependencies, devDependencies } = readProjectPackages().seller;
  return written({
    ...manifest(facts),
    dependencies: sorted({ adbind: facts.adbind, ...ranges(dependencies) }),
    devDependencies: sorted({ "adbind-cli": facts.cli, ...ranges(devDependencies) }),
  });
};

/** As npm writes them. */
const sorted = (all: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));

const written = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

const manifest = ({ packageName, version, also = [] }: ProjectFacts) => ({
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
});

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

export const gitignore = (): string =>
  ["node_modules/", "dist/", "data/", ".env", "signing-key.json", "secret-keys", "*.private.json", ""].join("\n");
