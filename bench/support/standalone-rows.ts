/** What `--standalone` costs to generate, and what generated code weighs in a bundle. */
import { rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { type Command, type Cost, measure, measureOnce } from "./measure.js";
import type { BuiltPackage } from "./package.js";
import type { Row } from "./row.js";

export interface StandaloneSetting {
  readonly built: BuiltPackage;
  /** Folder of the release that is generated with and without, and of the one whose tool is bundled. */
  readonly largest: string;
  readonly used: string;
  /** Ours to fill. */
  readonly scratch: string;
  readonly runs: number;
}

const KB = 1_000;

/** Bytes of a program, bundled and minified as for a browser. */
async function bundledBytes({ built, scratch }: StandaloneSetting, program: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: scratch, loader: "ts" },
    ...{ bundle: true, minify: true, write: false, format: "esm", platform: "browser", logLevel: "silent" },
    alias: {
      "adbind/contract": path.join(built.folder, "dist/runtime/contract/index.js"),
      "adbind/standalone": path.join(built.folder, "dist/runtime/validate/standalone.js"),
    },
  });
  return outputFiles[0]!.contents.byteLength;
}

const generation = ({ built }: StandaloneSetting, release: string, out: string, more: readonly string[]): Command => ({
  args: [built.cli, "generate", release, "--out", out, ...more],
  prints: / written /,
  before: () => rmSync(out, { recursive: true, force: true }),
});

const told = (cost: Cost): string => `${(cost.ms / 1e3).toFixed(2)} s, ${Math.round(cost.peakBytes / 1e6)} MB`;

async function generatingRows(setting: StandaloneSetting): Promise<Row[]> {
  const { largest, scratch, runs } = setting;
  const { plain, standalone } = await measure(
    {
      plain: generation(setting, largest, path.join(scratch, "plain"), []),
      standalone: generation(setting, largest, path.join(scratch, "standalone"), ["--standalone"]),
    },
    runs,
  );
  const name = `generate ${path.basename(largest)} --standalone`;
  const note = `${told(standalone)} against ${told(plain)}; processor ${((standalone.cpuMs / plain.cpuMs) * 100).toFixed(0)} %`;
  const floor = (times: number) => ({ of: "the same without --standalone", times });
  return [
    {
      name: `${name}, times without`,
      value: standalone.ms / plain.ms,
      unit: "x",
      target: { max: 2 },
      floor: floor(standalone.ms / plain.ms),
      note,
    },
    {
      name: `${name}, peak memory`,
      value: standalone.peakBytes / 1e6,
      unit: "MB",
      target: { max: 500 },
      floor: floor(standalone.peakBytes / plain.peakBytes),
    },
  ];
}

async function bundleRows(setting: StandaloneSetting): Promise<Row[]> {
  const { used, scratch } = setting;
  const out = path.join(scratch, "bundled");
  await measureOnce(generation(setting, used, out, ["--standalone"]));
  const version = path.basename(used);
  const bindings = path.join(out, version);
  const judging = `import { precompiled } from "adbind/standalone";\n`;
  const one = await bundledBytes(
    setting,
    `import { createMediaBuy, handleCreateMediaBuy } from "${bindings}/index.js";
    globalThis.kept = [createMediaBuy, handleCreateMediaBuy];`,
  );
  const validator = await bundledBytes(
    setting,
    `${judging}import { createMediaBuy } from "${bindings}/validators/create-media-buy.js";
    globalThis.kept = precompiled({ create_media_buy: createMediaBuy });`,
  );
  const judge = await bundledBytes(setting, `${judging}globalThis.kept = precompiled({});`);
  return [
    {
      name: `bundle of one tool out of ${version}'s index, minified`,
      value: one / KB,
      unit: "KB",
      target: { max: 1.5 },
      floor: { none: "its data alone is most of it" },
    },
    {
      name: `bundle of create_media_buy's validator of ${version}, minified`,
      value: validator / KB,
      unit: "KB",
      target: { max: 60 },
      floor: { of: "what judges, without a schema", times: validator / judge },
      note: `request and all answers; what judges is ${(judge / KB).toFixed(1)} KB of it`,
    },
  ];
}

export const standaloneRows = async (setting: StandaloneSetting): Promise<Row[]> => [
  ...(await generatingRows(setting)),
  ...(await bundleRows(setting)),
];
