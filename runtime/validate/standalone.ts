/**
 * What precompiled validators call: `adbind/standalone`. ajv's own output asks for these with `require`, which edge
 * runtimes and browsers lack; everything here is a static import, and nothing compiles code.
 */

import * as equalModule from "ajv/dist/runtime/equal.js";
import * as lengthModule from "ajv/dist/runtime/ucs2length.js";
import * as formatsModule from "ajv-formats/dist/formats.js";

type Interop<T> = T & { default?: Interop<T> };

/** A CommonJS module as its exports, however the loader or bundler wraps it. */
function pick<T extends object, K extends keyof T>(module: Interop<T>, key: K): T[K] {
  let inner: Interop<T> = module;
  while (typeof inner.default === "object" && !(key in inner && key !== "default")) inner = inner.default;
  return inner[key];
}

const callable = (module: unknown): unknown => {
  let inner = module as { default?: unknown };
  while (typeof inner === "object" && inner.default !== undefined) inner = inner.default as { default?: unknown };
  return inner;
};

/** Formats by name, as ajv-formats has them in full mode. */
export const formats = pick(formatsModule as Interop<typeof formatsModule>, "fullFormats");

/** Deep equality of JSON values. */
export const equal = callable(equalModule) as (a: unknown, b: unknown) => boolean;

/** Length of a string in code points, as JSON schema counts. */
export const ucs2length = callable(lengthModule) as (text: string) => number;
