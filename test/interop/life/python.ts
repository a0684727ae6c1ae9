/** The official Python SDK's client as a buyer. */
import path from "node:path";
import { tls } from "../../support/tls-terminator.js";
import { preparePython, talkPython } from "../signing/python.js";
import { HOST, type LifeClient, type Lived, linesOf } from "./client.js";

/** @returns the client, or why there is none */
export async function pythonClient(): Promise<LifeClient | string> {
  const missing = preparePython();
  if (missing !== undefined) return missing;
  const { name, ask, close } = await talkPython(path.join(import.meta.dirname, "python.py"), [HOST, tls.certFile]);
  return {
    name,
    lines: (versions) => [null, ...linesOf(versions)],
    live: async (question) => (await ask(question)) as unknown as Lived,
    close,
  };
}
