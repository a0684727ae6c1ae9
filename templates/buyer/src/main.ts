/** Runs the buyer once: carries on what an earlier run left, then does what requests.json asks. */
import { mkdirSync, readFileSync } from "node:fs";
import { carryOut, openMyBuyer, type Requests } from "./buyer.js";

const { AGENT_URL, AGENT_TOKEN, DATA = "data", REQUESTS = "requests.json" } = process.env;
if (AGENT_URL === undefined) throw new Error("set AGENT_URL to the agent that is called");
mkdirSync(DATA, { recursive: true });
const { buyer, close } = openMyBuyer(AGENT_URL, AGENT_TOKEN, DATA);
try {
  for (const { tool, answer } of await buyer.resume()) console.log(`carried on: ${tool}: ${answer.status}`);
  const done = await carryOut(buyer, JSON.parse(readFileSync(REQUESTS, "utf8")) as Requests);
  for (const { tool, status, data } of done) console.log(`${tool}: ${status}`, JSON.stringify(data, null, 2));
  if (done.some(({ status }) => status !== "completed")) process.exitCode = 1;
} finally {
  await close();
}
