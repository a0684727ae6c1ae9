/** The official TypeScript SDK's client as a buyer. */
import type { LifeClient } from "./judge.js";

/** @returns the client, or why there is none */
export async function typescriptClient(): Promise<LifeClient | string> {
  return "not yet";
}
