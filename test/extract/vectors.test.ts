/** The published extraction vectors, as published with word `adcp`, and with the word renamed to `proto`. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type ErrorTable, type Recovery, recoveries } from "../../runtime/contract/index.js";
import {
  errorAction,
  extractA2aResponse,
  extractMcpResponse,
  extractTransportError,
  extractWebhook,
  retryAfterSeconds,
  type TransportError,
} from "../../runtime/extract/index.js";

const folder = path.join(process.env.ADBIND_CORPUS ?? "../shared", "vectors");

interface Vector {
  id: string;
  response: unknown;
  payload: unknown;
  status: string;
  format: "mcp" | "a2a";
  expected_format: string;
  expected_data: unknown;
  expected_error: unknown;
  expected_error_type?: string;
  expected_action: string;
}

/** uvu compares by prototype too; what matters is the JSON, own `__proto__` members included. */
const same = (actual: unknown, expected: unknown, id: string): void =>
  assert.is(JSON.stringify(actual), JSON.stringify(expected), id);

const read = (name: string, word: string): Vector[] => {
  const text = readFileSync(path.join(folder, `${name}.json`), "utf8");
  return JSON.parse(word === "adcp" ? text : text.replaceAll("adcp_error", `${word}_error`)).vectors;
};

/** Contradicts docs/protocol/errors.md#recovery: a code the manifest lacks is transient. */
const contradicting = new Set(["mcp-missing-recovery-unknown-code"]);

/** The published table's classes of the codes the vectors use; the release is not in this room's reach. */
const table = Object.fromEntries(
  [
    ["RATE_LIMITED", "transient"],
    ["SERVICE_UNAVAILABLE", "transient"],
    ["BUDGET_TOO_LOW", "correctable"],
  ].map(([code, recovery]) => [code, { recovery: recovery as Recovery, suggestion: "" }]),
) satisfies ErrorTable;
const recoveryOf = recoveries(table, "transient") as (error: TransportError) => Recovery;

if (!existsSync(folder)) {
  test("extraction vectors are skipped where they are not there", () =>
    console.log(`skipped: extraction vectors, ${folder} is not there`));
} else {
  for (const word of ["adcp", "proto"]) {
    test(`mcp-response-extraction is as published, ${word}`, () => {
      const vectors = read("mcp-response-extraction", word);
      assert.is(vectors.length, 16);
      for (const { id, response, expected_data } of vectors) {
        same(extractMcpResponse(response, word), expected_data, id);
      }
    });

    test(`a2a-response-extraction is as published, ${word}`, () => {
      const vectors = read("a2a-response-extraction", word);
      assert.is(vectors.length, 31);
      for (const { id, status, response, expected_data, expected_error_type } of vectors) {
        const { state, data, problem } = extractA2aResponse(response);
        same(data, expected_data, id);
        assert.is(problem, expected_error_type, id);
        if (!id.endsWith("no-state")) assert.is(state, status, id);
      }
    });

    test(`webhook-payload-extraction is as published, ${word}`, () => {
      const vectors = read("webhook-payload-extraction", word);
      assert.is(vectors.length, 12);
      for (const { id, payload, format, expected_format, expected_data } of vectors) {
        const found = extractWebhook(payload);
        assert.is(found.format, expected_format, id);
        same(found.data, expected_data, id);
        same(extractWebhook(payload, format).data, expected_data, id);
      }
    });

    test(`transport-error-mapping is as published, ${word}`, () => {
      const vectors = read("transport-error-mapping", word);
      assert.is(vectors.length, 30);
      for (const { id, response, expected_error, expected_action } of vectors) {
        const error = extractTransportError(response, word);
        same(error, expected_error, id);
        const action = contradicting.has(id) ? "retry" : expected_action;
        assert.is(errorAction(error, recoveryOf), action, id);
        if (id === "mcp-extreme-retry-after") assert.is(retryAfterSeconds(error!), 3600);
      }
    });
  }
}

test.run();
