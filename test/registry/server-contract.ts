/** Drives every operation of the API document with requests it allows and requests it does not; one body for both databases. */
import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import type { InjectOptions } from "fastify";
import type { suite as createSuite } from "uvu";
import * as assert from "uvu/assert";
import { type Operation, readApiDocument } from "../../runtime/registry/server/document.js";
import { createAjv } from "../../runtime/registry/server/validation.js";
import { validOf, wrongText } from "./server-arbitrary.js";
import { bearer, type Setup } from "./server-fixture.js";
import { BROKEN, HOSTED, NEWS, OTHER, SELLER, STREAM, WIDE } from "./server-world.js";

const known: Record<string, readonly unknown[]> = {
  domain: [NEWS, STREAM, WIDE, BROKEN, HOSTED, "seller.example", "unseen.example", "https://NEWS.example/x"],
  publisher_domain: [NEWS, STREAM, WIDE, "unseen.example"],
  publisher_domains: [NEWS, STREAM, WIDE],
  agent: [SELLER, OTHER, "https://nobody.example/"],
  agent_url: [SELLER, OTHER, "HTTPS://Seller.example:443/mcp", "https://nobody.example/"],
  value: [`main_site.${NEWS}`, `APP.${NEWS}`],
  type: ["domain", "bundle_id"],
  tags: ["sport", "live"],
  property_tags: ["sport", "live"],
  property_ids: ["main_site", "app", "tv"],
  property_types: ["website", "ctv_app"],
  channels: ["ctv", "display"],
  markets: ["DE", "AT"],
  version: ["3.0.0", "3.1.0"],
  path: ["core/error.json", "manifest.json", "index.json"],
  crawl_request_id: ["0b8f2b1e-9d0e-4d35-9c1b-0f6b3a7d2c10"],
};

const asText = (value: unknown): string => (Array.isArray(value) ? value.join(",") : String(value));

interface Values {
  readonly query: Readonly<Record<string, unknown>>;
  readonly path: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

const parametersIn = (
  { parameters }: Operation,
  place: string,
  one: (p: Operation["parameters"][number]) => fc.Arbitrary<unknown>,
) => {
  const found = parameters.filter((parameter) => parameter.in === place);
  const fields = Object.fromEntries(found.map((parameter) => [parameter.name, one(parameter)]));
  return { fields, required: found.filter(({ required }) => required).map(({ name }) => name) };
};

/** What the document allows. A cursor is opaque: one that is made up is refused. */
function allowed(operation: Operation): fc.Arbitrary<Values> {
  const value = (parameter: Operation["parameters"][number]) => validOf(parameter.schema, known, parameter.name);
  const query = parametersIn(operation, "query", value);
  delete query.fields.cursor;
  const path = parametersIn(operation, "path", value);
  return fc.record({
    query: fc.record(query.fields, { requiredKeys: query.required as never[] }),
    path: fc.record(path.fields),
    body: operation.body === undefined ? fc.constant(undefined) : validOf(operation.body.schema, known),
  });
}

/** What it may or may not allow. */
function anything(operation: Operation): fc.Arbitrary<Values> {
  const value = () => fc.oneof(wrongText, fc.constantFrom(...Object.values(known).flat()));
  return fc.record({
    query: fc.record(parametersIn(operation, "query", value).fields, { requiredKeys: [] }),
    path: fc.record(parametersIn(operation, "path", value).fields),
    body: operation.body === undefined ? fc.constant(undefined) : fc.oneof(fc.jsonValue(), bodyWithOneOff(operation)),
  });
}

/** An allowed body in which one field has become something else. */
const bodyWithOneOff = ({ body }: Operation): fc.Arbitrary<unknown> =>
  fc
    .tuple(validOf(body!.schema, known), fc.constantFrom(...Object.keys(body!.schema.properties ?? {})), fc.jsonValue())
    .map(([valid, field, off]) => ({ ...(valid as object), [field]: off }));

/** Encoded by whoever sends; half a surrogate pair has no encoding. */
const encoded = (value: unknown): string => encodeURIComponent(asText(value).toWellFormed());

function requestOf(operation: Operation, { query, path, body }: Values, token: string | undefined): InjectOptions {
  const place = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === "path"
      ? asText(path[name]).toWellFormed().split("/").map(encodeURIComponent).join("/")
      : encoded(path[name]),
  );
  const search = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encoded(value)}`)
    .join("&");
  return {
    method: operation.method,
    url: search === "" ? place : `${place}?${search}`,
    headers: {
      ...(token !== undefined && bearer(token)),
      ...(operation.body !== undefined && { "content-type": "application/json" }),
    },
    ...(operation.body !== undefined && { payload: JSON.stringify(body) }),
  };
}

const validators = new Map<string, ValidateFunction>();

function validatorOf(operation: Operation, status: string, ajv: Ajv2020): ValidateFunction | undefined {
  const schema = operation.responses[status]?.content?.["application/json"]?.schema;
  if (schema === undefined) return undefined;
  const id = `${operation.id} ${status}`;
  const found = validators.get(id) ?? ajv.compile(schema);
  validators.set(id, found);
  return found;
}

type Response = Awaited<ReturnType<Setup["registry"]["app"]["inject"]>>;

const isNobodys = ({ statusCode, body }: Response): boolean =>
  (statusCode === 404 && body === '{"error":"Not found"}') || (statusCode === 501 && body.includes('"not_offered"'));

/** What is no URL is refused whoever asks, and wherever it leads. */
const isNoUrl = ({ statusCode, body }: Response): boolean =>
  statusCode === 400 && body === '{"error":"The URL is not well-formed"}';

/** @returns what the answer does that the document does not say; undefined when nothing */
function offence(operation: Operation, response: Response, ajv: Ajv2020): string | undefined {
  const status = String(response.statusCode);
  const documented = operation.responses[status];
  // A path that is none of the document's is nobody's operation.
  if (isNobodys(response) && operation.path.includes("{")) return undefined;
  if (isNoUrl(response)) return undefined;
  if (documented === undefined) return `status ${status} is not documented: ${response.body.slice(0, 200)}`;
  for (const [name, header] of Object.entries(documented.headers ?? {})) {
    if (header.required !== false && response.headers[name.toLowerCase()] === undefined)
      return `${status} without ${name}`;
  }
  if (status === "304") return response.body === "" ? undefined : "304 with a body";
  const validate = validatorOf(operation, status, ajv);
  if (validate === undefined) return undefined;
  if (!String(response.headers["content-type"]).startsWith("application/json")) return `${status} is no JSON`;
  return validate(response.json())
    ? undefined
    : `${status}: ${ajv.errorsText(validate.errors)}: ${response.body.slice(0, 300)}`;
}

/**
 * A stream does not end, and nobody here makes the crawl that a revalidation waits for: server-feed.test.ts and
 * server-crawl.test.ts have their own.
 */
const answering = (operations: readonly Operation[]): Operation[] =>
  operations.filter(
    ({ id, responses }) =>
      id !== "revalidateAdagents" && responses["200"]?.content?.["text/event-stream"] === undefined,
  );

/** Registers the tests. @param runs requests of each kind per operation */
export function contractTests(
  suite: ReturnType<typeof createSuite>,
  get: () => { setup: Setup; token: string },
  runs: number,
): void {
  const operations = answering(readApiDocument().operations);
  const ajv = createAjv();
  const seed = Number(process.env.ADBIND_SEED ?? 20_260_302);

  for (const operation of operations) {
    suite(`${operation.id}: what the document allows is answered as it says`, async () => {
      const { setup, token } = get();
      await fc.assert(
        fc.asyncProperty(allowed(operation), async (values) => {
          const response = await setup.registry.app.inject(requestOf(operation, values, token));
          assert.ok(response.statusCode < 500, response.body);
          assert.is(offence(operation, response, ajv), undefined);
        }),
        { numRuns: runs, seed },
      );
    });

    suite(`${operation.id}: anything else is refused as it says`, async () => {
      const { setup, token } = get();
      await fc.assert(
        fc.asyncProperty(anything(operation), fc.boolean(), async (values, known) => {
          const response = await setup.registry.app.inject(requestOf(operation, values, known ? token : undefined));
          assert.ok(response.statusCode < 500 || [501, 503].includes(response.statusCode), response.body);
          assert.is(offence(operation, response, ajv), undefined);
          // A path such as `..` leads to another place before it is sent.
          if (!known && operation.credentials === "required" && !isNobodys(response) && !isNoUrl(response))
            assert.is(response.statusCode, 401);
        }),
        { numRuns: runs, seed },
      );
    });

    if (operation.body !== undefined) {
      suite(`${operation.id}: bodies that are no JSON`, async () => {
        const { setup, token } = get();
        await fc.assert(
          fc.asyncProperty(
            fc.uint8Array({ maxLength: 200 }),
            fc.constantFrom("application/json", "text/plain", "application/x-www-form-urlencoded", "x"),
            async (bytes, type) => {
              const response = await setup.registry.app.inject({
                method: "POST",
                url: operation.path,
                payload: Buffer.from(bytes),
                headers: { ...bearer(token), "content-type": type },
              });
              assert.ok([400, 415].includes(response.statusCode), response.body);
              assert.is(offence(operation, response, ajv), undefined);
            },
          ),
          { numRuns: Math.min(runs, 50), seed },
        );
      });
    }
  }
}
