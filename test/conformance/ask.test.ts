/** What an agent says of itself before a run: the releases it speaks, whatever its protocol is called. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { supportedVersions } from "../../runtime/conformance/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { startAgent } from "../support/agent.js";

async function listed(tool: string, payload: JsonObject): Promise<readonly string[]> {
  const agent = await startAgent({ tools: ["get_products", tool], answer: () => ({ payload }) });
  try {
    return await supportedVersions({ url: agent.mcp });
  } finally {
    await agent.close();
  }
}

test("versions are read by the protocol's word, also where the tool's name is without it", async () => {
  const block = { major_versions: [3], supported_versions: ["3.1", "3.0"] };
  assert.equal(await listed("get_word_capabilities", { word: block, media_buy: {} }), ["3.1", "3.0"]);
  assert.equal(await listed("get_agent_capabilities", { word: block, media_buy: {} }), ["3.1", "3.0"]);
});

test("major versions stand for their first line where nothing else is listed", async () => {
  assert.equal(await listed("get_agent_capabilities", { word: { major_versions: [3] } }), ["3.0"]);
  assert.equal(await listed("get_agent_capabilities", { media_buy: {} }), []);
});

test.run();
