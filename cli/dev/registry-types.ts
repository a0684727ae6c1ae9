/**
 * Development only, from manifests/registry/openapi.yaml: `generated/registry/openapi.ts`, the types of the registry's HTTP
 * API, and beside the source itself the same as JSON, which a registry reads in a hundredth of the time. `--check`
 * compares instead of writing. openapi-typescript is a development dependency: who uses adbind gets the types, not the tool.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import openapiTypescript, { astToString } from "openapi-typescript";
import { parse } from "yaml";
import { BANNER, hashOf } from "../../generator/emit/disk.js";

const root = path.resolve(import.meta.dirname, "../..");
const source = path.join(root, "manifests/registry/openapi.yaml");
const digest = hashOf(readFileSync(source)).slice(0, 8);
const nodes = await openapiTypescript(pathToFileURL(source), { alphabetize: true, immutable: true, silent: true });
const types = `${BANNER} (sources sha256:${digest}); do not edit: npm run generate\n// Source: manifests/registry/openapi.yaml\n\n${astToString(nodes)}`;

/** @param file below the root */
function put(file: string, text: string): void {
  const target = path.join(root, file);
  if (existsSync(target) && readFileSync(target, "utf8") === text) console.error(`${file} unchanged`);
  else if (process.argv.includes("--check")) {
    console.error(`differs   ${file}: npm run generate, and commit the result`);
    process.exitCode = 1;
  } else {
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(`${target}.new`, text);
    renameSync(`${target}.new`, target);
    console.error(`${file} written`);
  }
}

put("generated/registry/openapi.ts", types);
put("manifests/registry/openapi.json", `${JSON.stringify(parse(readFileSync(source, "utf8")))}\n`);
