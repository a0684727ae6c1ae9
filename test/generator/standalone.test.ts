/** `--standalone`: what is emitted is the validator that `createValidator` makes, smaller, and with nothing to compile. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import type { Release, Tools } from "../../runtime/contract/index.js";
import { type AnyValidator, createValidator } from "../../runtime/validate/index.js";
import { cellsOf } from "../support/cells.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import { cut, manifestOf, readFiles } from "../support/mutate-release.js";
import { spread } from "../support/mutations.js";
import { browserBundle, userProject } from "../support/project.js";
import { smallRelease, writeRelease } from "../support/release.js";

interface Payload {
  readonly tool: string;
  readonly direction: string;
  readonly payload: unknown;
}

/** Mutants of one payload. */
const MUTANTS = 12;

interface Made {
  readonly folder: string;
  readonly bindings: string;
  readonly release: Release<Tools>;
  readonly validator: AnyValidator;
}

async function generated(source: string): Promise<Made> {
  const folder = userProject();
  const { releases, ok } = await generate([source], { out: path.join(folder, "bindings"), standalone: true });
  assert.is(ok, true);
  const bindings = path.join(folder, "bindings", releases[0]!.version);
  const load = async (file: string) => import(pathToFileURL(path.join(bindings, file)).href);
  const { release } = await load("index.ts");
  return { folder, bindings, release, validator: (await load("validators/index.ts")).validator };
}

/** Both validators on a value; the whole result is compared, errors and their order too. */
const judged = (by: AnyValidator, { tool, direction }: Payload, data: unknown) => {
  if (direction === "request") return by.request(tool, data);
  const status = direction === "response" ? "completed" : direction.replace(/^async-/, "");
  return by.arm(tool, status as never, data);
};

const published = publishedReleases();
const payloadsOf = (source: string): string => path.join(corpus, "payloads", `${path.basename(source)}.json`);
const withPayloads = published.filter((source) => existsSync(payloadsOf(source)));
const everyCell = "ADBIND_CELLS=all ./run test test/generator/standalone";
/** What a release's tools are dealt out to: compiling all of a release costs more than most tests do. */
const SHARES = 3;
const dealt = <T>(all: readonly T[], share: number): T[] => all.filter((_, index) => index % SHARES === share);
const cells = new Map(
  withPayloads.flatMap((source) =>
    Array.from({ length: SHARES }, (_, share) => [
      `${path.basename(source)}, share ${share + 1} of ${SHARES}`,
      { source, share },
    ]),
  ),
);

for (const cell of cellsOf(everyCell, [...cells.keys()], 1)) {
  test(`${cell}: payloads and mutants get the same verdict and the same errors`, async () => {
    const { source, share } = cells.get(cell)!;
    const tools = dealt(Object.keys(manifestOf(readFiles(source)).tools).sort(), share);
    const { release, validator } = await generated(writeRelease(cut(source, tools)));
    const plain = await createValidator(release);
    const all = JSON.parse(readFileSync(payloadsOf(source), "utf8")) as Payload[];
    const payloads = all.filter(({ tool }) => tools.includes(tool));
    let refused = 0;
    for (const payload of payloads) {
      for (const data of [payload.payload, ...spread(payload.payload, MUTANTS)]) {
        const expected = judged(plain, payload, data);
        assert.equal(judged(validator, payload, data), expected, payload.tool);
        if (!expected.ok) refused += 1;
      }
    }
    assert.ok(refused > payloads.length, `${refused} of ${payloads.length} payloads' mutants were refused`);
    for (const ref of Object.keys(await release.schemas())) {
      for (const data of [{}, [], "x", 5, null, { status: "x", errors: [{}] }])
        assert.equal(validator.schema(ref, data), plain.schema(ref, data), ref);
    }
  });
}

const errors = (files: readonly string[]): string[] => {
  const options: ts.CompilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2024.d.ts"],
    types: [],
    noEmit: true,
    skipLibCheck: true,
    customConditions: ["adbind-source"],
  };
  const found = ts.getPreEmitDiagnostics(ts.createProgram([...files], options));
  return found.map(
    ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`,
  );
};

test("its types are those of createValidator, for the release and for one tool of it", async () => {
  const { bindings } = await generated(writeRelease(smallRelease()));
  const program = path.join(bindings, "program.ts");
  ts.sys.writeFile(
    program,
    `import { precompiled } from "adbind/standalone";
import { createValidator } from "adbind/validate";
import { release } from "./index.js";
import type { PlaceOrderRequest } from "./types/index.js";
import { placeOrder, validator } from "./validators/index.js";
let same: Awaited<ReturnType<typeof createValidator<(typeof release)["tools"]>>> = validator;
same = await createValidator(release);
const one = precompiled({ place_order: placeOrder });
for (const by of [one, same]) {
  const request = by.request("place_order", {});
  if (request.ok) { const typed: PlaceOrderRequest = request.data; typed.lines; }
}
const arm = one.arm("place_order", "submitted", {});
if (arm.ok) { const id: string = arm.data.task_id; id.length; }
// @ts-expect-error the validator was made without it
one.request("list_orders", {});
// @ts-expect-error the tool has no such arm
one.arm("place_order", "paused", {});
`,
  );
  assert.equal(errors([program, ...ts.sys.readDirectory(path.join(bindings, "validators"), [".ts"])]), []);
});

test("tools that are called as what the validators' modules use themselves are judged like any other", async () => {
  const files = smallRelease();
  const { tools } = manifestOf(files);
  const names = ["dispatch", "precompiled", "tool", "validator"];
  for (const name of names) tools[name] = { ...tools.list_orders, specialisms: undefined };
  const { validator } = await generated(writeRelease(files));
  for (const name of names) {
    assert.equal(validator.request(name, {}).ok, true, name);
    assert.equal(validator.request(name, []).ok, false, name);
  }
});

test("a bundle holds the schemas its tools reach, once, and nothing of node or ajv", async () => {
  const { folder } = await generated(writeRelease(smallRelease()));
  const program = (tools: string) => `
    import { precompiled } from "adbind/standalone";
    import * as all from "./bindings/1.2.3/validators/index.js";
    globalThis.validator = precompiled({ ${tools} });`;
  const one = await browserBundle({ folder, program: program("end_session: all.endSession") });
  assert.match(one, "session_id");
  assert.not.match(one, /product_id|order_id/);
  const two = await browserBundle({ folder, program: program("place_order: all.placeOrder") });
  assert.is(two.split("product_id").length, 2, "a schema that is referred to from everywhere is there once");
  assert.not.match(two, /new Function|ajv-|fast-deep-equal|schemaPath/);
});

/** Minified, with everything that judges by it: what docs/figures.md shows of the largest tool. */
const MAX_BYTES = 60_000;
const measured = published.find((source) => path.basename(source) === "3.1.19");

if (measured !== undefined) {
  test("create_media_buy, requests and all its answers, is at most 60 KB", async () => {
    const { folder } = await generated(writeRelease(cut(measured, ["create_media_buy"])));
    const bundled = await browserBundle({
      folder,
      program: `import { precompiled } from "adbind/standalone";
        import { createMediaBuy } from "./bindings/3.1.19/validators/create-media-buy.js";
        globalThis.validator = precompiled({ create_media_buy: createMediaBuy });`,
    });
    assert.ok(bundled.length <= MAX_BYTES, `${bundled.length} bytes`);
  });
}

test.run();
