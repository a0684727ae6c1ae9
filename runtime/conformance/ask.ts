/** What an agent says of itself before it is known which release it is held to. */
import { randomUUID } from "node:crypto";
import { isJsonObject, type JsonObject, type TransportName } from "../contract/index.js";
import { openA2aSession } from "./agent/a2a.js";
import { createHttp } from "./agent/http.js";
import { openMcpSession } from "./agent/mcp.js";
import { agentUnreachable } from "./agent-unreachable.js";
import { authorizationFor } from "./kit.js";

/** How an agent is reached. `resolve` gives names other addresses. */
export interface AskOptions {
  readonly url: string;
  readonly transport?: TransportName;
  readonly auth?: string;
  readonly resolve?: Readonly<Record<string, string>>;
  readonly ca?: string;
}

const CAPABILITIES = /^get_\w+_capabilities$/;

/** A major version as agents of the first releases list it stands for its first line. */
const lines = (value: unknown): string[] =>
  Array.isArray(value) ? value.map((one) => (typeof one === "number" ? `${one}.0` : String(one))) : [];

/** The member that has them is called by the protocol's word, which a tool's name need not have in it. */
function versionsIn(payload: JsonObject): readonly string[] {
  const blocks = Object.values(payload).filter(isJsonObject);
  const listed = blocks.flatMap(({ supported_versions: versions }) => lines(versions));
  return listed.length > 0 ? listed : blocks.flatMap(({ major_versions: majors }) => lines(majors));
}

/**
 * Versions that an agent lists as those it speaks.
 * @throws AdbindError `agent_unreachable`
 */
export async function supportedVersions(options: AskOptions): Promise<readonly string[]> {
  const { url, transport = "mcp" } = options;
  const http = await createHttp({ resolve: options.resolve ?? {}, ca: options.ca });
  const open = transport === "mcp" ? openMcpSession : openA2aSession;
  const authorization = authorizationFor(options.auth);
  let session: Awaited<ReturnType<typeof open>> | undefined;
  try {
    session = await open({
      url,
      fetch: http.fetch,
      authorization,
      timeoutMs: 30_000,
      uuid: randomUUID,
      now: Date.now,
    });
    const name = (await session.tools()).find((tool) => CAPABILITIES.test(tool));
    const answer = name === undefined ? undefined : await session.call(name, {});
    // Without this a caller would be told that the agent lists no version.
    if (answer?.error !== undefined) throw new Error(`${name} failed: ${answer.error.message}`);
    return versionsIn(answer?.payload ?? {});
  } catch (error) {
    throw agentUnreachable(transport, url, error);
  } finally {
    await session?.close();
    await http.close();
  }
}
