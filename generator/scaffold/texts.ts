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
  /** Tools that the specialisms name and nobody answers. */
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
