/**
 * Development only: `generated/registry/openapi.ts`, the types of the registry's HTTP API, from
 * manifests/registry/openapi.yaml. `--check` compares instead of writing. openapi-typescript is a development
 * dependency: who uses adbind gets the types, not the tool.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import openapiTypescript, { astToString } from "openapi-typescript";
import { BANNER, hashOf } from "../../generator/emit/disk.js";

const root = path.resolve(import.meta.dirname, "../..");
const source = path.join(root, "manifests/registry/openapi.yaml");
const target = path.join(root, "generated/registry/openapi.ts");

const digest = hashOf(readFileSync(source)).slice(0, 8);
const nodes = await openapiTypescript(pathToFileURL(source), { alphabetize: true, immutable: true, silent: true });
const text = `${BANNER} (sources sha256:${digest}); do not edit: npm run generate\n// Source: manifests/registry/openapi.yaml\n\n${astToString(nodes)}`;

const shown = path.relative(root, target);
if (existsSync(target) && readFileSync(target, "utf8") === text) console.error(`${shown} unchanged`);
else if (process.argv.includes("--check")) {
  console.error(`differs   ${shown}: npm run generate, and commit the result`);
  process.exitCode = 1;
} else {
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(`${target}.new`, text);
  renameSync(`${target}.new`, target);
  console.error(`${shown} written`);
}
