/**
 * Releases of any size that look like the real ones: four schemas a tool, a core that every tool shares, and areas of
 * some forty tools that share models of their own. Core is of one size, areas grow with the tools, as in a protocol that
 * gains surfaces; so what a tool reaches stays the same and a linear generator takes linear time.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { numbers } from "../../test/support/random.js";

type Json = Record<string, unknown>;

export interface SyntheticOptions {
  tools: number;
  /** The same seed and size give the same bytes. */
  seed: number;
}

/** Tools of one area; published surfaces have up to this many. */
const TOOLS_PER_AREA = 40;
const MODELS_PER_AREA = 24;
const CORE_MODELS = 48;
const ENUMS = 60;

const verbs = ["get", "list", "create", "update", "sync", "check"];
const readOnly = new Set(["get", "list", "check"]);
const nouns = "plan order package audience creative signal placement budget report target offer session".split(" ");
const adjectives = "active planned shared priced local draft nested signed open partial daily final".split(" ");
const surfaces = "media-buy signals governance account creative brand property collection protocol compliance".split(
  " ",
);

/** Every file of a release, path -> document. */
export function syntheticRelease({ tools, seed }: SyntheticOptions): Map<string, Json> {
  return new Writer(numbers(seed)).release(tools);
}

/** Writes a synthetic release into a folder. */
export function writeSynthetic(folder: string, options: SyntheticOptions): void {
  const files = syntheticRelease(options);
  for (const inner of new Set([...files.keys()].map((file) => path.dirname(file))))
    mkdirSync(path.join(folder, inner), { recursive: true });
  for (const [file, document] of files)
    writeFileSync(path.join(folder, file), `${JSON.stringify(document, null, 2)}\n`);
}

const title = (text: string): string =>
  text.replace(/(^|-)([a-z0-9])/g, (_, dash, letter) => `${dash && " "}${letter.toUpperCase()}`);

class Writer {
  private readonly files = new Map<string, Json>();

  constructor(private readonly random: () => number) {}

  private below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  private pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  private chance(share: number): boolean {
    return this.random() < share;
  }

  release(count: number): Map<string, Json> {
    const enums = Array.from({ length: ENUMS }, (_, index) => this.enumeration(index));
    const core = this.models("core", CORE_MODELS, enums);
    const tools: Json = {};
    for (let first = 0; first < count; first += TOOLS_PER_AREA) {
      const area = first / TOOLS_PER_AREA;
      const folder = `area-${area}`;
      const shared = [...core, ...core.slice(0, 8), ...this.models(folder, MODELS_PER_AREA, [...enums, ...core])];
      for (let index = first; index < Math.min(count, first + TOOLS_PER_AREA); index++) {
        const verb = this.pick(verbs);
        const name = `${verb}-${this.pick(adjectives)}-${this.pick(nouns)}-${index}`;
        tools[name.replaceAll("-", "_")] = this.tool({ name, folder, verb, area }, [...shared, ...enums]);
      }
    }
    this.files.set("manifest.json", manifestOf(tools));
    return this.files;
  }

  private add(file: string, document: Json): string {
    this.files.set(file, {
      $schema: "http://json-schema.org/draft-07/schema#",
      $id: `/schemas/1.0.0/${file}`,
      title: title(path.basename(file, ".json")),
      ...document,
    });
    return file;
  }

  private enumeration(index: number): string {
    const values = Array.from({ length: 3 + this.below(9) }, (_, at) => `${this.pick(adjectives)}_${index}_${at}`);
    return this.add(`enums/${this.pick(nouns)}-kind-${index}.json`, {
      description: `What kind it is, of ${values.length}.`,
      type: "string",
      enum: values,
    });
  }

  /** Models of a folder; each may refer to those a few before it, so chains stay as short as in published releases. */
  private models(folder: string, count: number, known: readonly string[]): string[] {
    const own: string[] = [];
    for (let index = 0; index < count; index++) {
      const near = own.slice(-6, -1);
      const name = `${folder}/${folder === "core" ? "" : `${folder}-`}${this.pick(adjectives)}-${this.pick(nouns)}-${index}.json`;
      own.push(this.add(name, this.object([...known, ...near], 4 + this.below(8))));
    }
    return own;
  }

  private object(known: readonly string[], fields: number): Json {
    const properties: Json = {};
    for (let index = 0; index < fields; index++)
      properties[`${this.pick(adjectives)}_${this.pick(nouns)}_${index}`] = this.field(known, 0);
    const required = Object.keys(properties).filter(() => this.chance(0.4));
    return {
      description: `Holds ${fields} fields of the exchange. A second sentence says more about it than code needs.`,
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: this.chance(0.8),
    };
  }

  private field(known: readonly string[], depth: number): Json {
    const description = `What the ${this.pick(adjectives)} ${this.pick(nouns)} is, as the seller keeps it. Told once, and then again.`;
    const kind = this.random();
    if (kind < 0.3) return { $ref: `/schemas/1.0.0/${this.pick(known)}`, description };
    if (kind < 0.55) return { type: "string", description, minLength: 1, maxLength: 200 };
    if (kind < 0.7) return { type: "number", description, minimum: 0 };
    if (kind < 0.78) return { type: "boolean", description, default: false };
    if (kind < 0.84) return { type: "string", description, enum: [0, 1, 2].map((at) => `${this.pick(nouns)}_${at}`) };
    if (kind < 0.94 || depth > 1) return { type: "array", description, items: this.item(known, depth), minItems: 1 };
    return { description, ...this.inner(known, depth) };
  }

  private item(known: readonly string[], depth: number): Json {
    return depth > 1 || this.chance(0.7) ? { $ref: `/schemas/1.0.0/${this.pick(known)}` } : this.inner(known, depth);
  }

  private inner(known: readonly string[], depth: number): Json {
    const names = [0, 1, 2].map((at) => `${this.pick(nouns)}_${at}`);
    return {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, this.field(known, depth + 1)])),
    };
  }

  private tool(
    { name, folder, verb, area }: { name: string; folder: string; verb: string; area: number },
    known: readonly string[],
  ): Json {
    const mutating = !readOnly.has(verb);
    const request = this.object(known, 5 + this.below(6));
    if (mutating) {
      (request.properties as Json).idempotency_key = { type: "string", minLength: 16, maxLength: 255 };
      request.required = [...((request.required as string[] | undefined) ?? []), "idempotency_key"];
    }
    const success = { title: `${title(name)} Success`, ...this.object(known, 5 + this.below(6)) };
    const errors = { type: "array", items: { $ref: "/schemas/1.0.0/" + known[0]! }, minItems: 1 };
    const failure = { title: `${title(name)} Error`, type: "object", properties: { errors }, required: ["errors"] };
    const status = (value: string): Json => ({ type: "string", const: value });
    const submitted = this.object(known, 2);
    Object.assign(submitted.properties as Json, { status: status("submitted"), task_id: { type: "string" } });
    submitted.required = ["status", "task_id"];
    const file = (suffix: string): string => `${folder}/${name}-${suffix}.json`;
    return {
      protocol: surfaces[area % surfaces.length],
      mutating,
      request_schema: this.add(file("request"), request),
      response_schema: this.add(file("response"), { type: "object", oneOf: [success, failure] }),
      async_response_schemas: [
        this.add(file("async-response-submitted"), submitted),
        this.add(file("async-response-working"), this.object(known, 4)),
      ],
    };
  }
}

const manifestOf = (tools: Json): Json => ({
  proto_version: "1.0.0",
  generated_at: "2026-01-01T00:00:00.000Z",
  tools,
  error_codes: Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `CODE_${index}`,
      { recovery: "correctable", description: `Fault ${index} of the request.`, suggestion: "Correct the request." },
    ]),
  ),
  error_code_policy: { default_unknown_recovery: "transient", note: "The list of codes is open." },
  specialisms: {},
});
