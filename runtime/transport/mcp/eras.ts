/**
 * The two eras of MCP: sessions and a handshake up to 2025-11-25, and a protocol without state from 2026-07-28 on, whose
 * requests each carry in `_meta`, and again in headers, what the handshake used to settle.
 */
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";

/** Revisions with a handshake. */
export const handshakeVersions: ReadonlySet<string> = new Set(SUPPORTED_PROTOCOL_VERSIONS);

/** The revision without state that is answered here. */
export const STATELESS_VERSION = "2026-07-28";

/** Members of `_meta` that every request of the stateless revision has, and the one its answers have. */
export const metaNames = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  client: "io.modelcontextprotocol/clientInfo",
  server: "io.modelcontextprotocol/serverInfo",
} as const;
