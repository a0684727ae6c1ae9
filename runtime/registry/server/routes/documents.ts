/** Files served as they are, metadata for OAuth clients, and what operators of the server ask. */

import { type ApiHandlers, type RegistryServerDependencies, within } from "../api-request.js";
import { scopes } from "../auth/issuer-places.js";
import { notFound } from "../problems.js";
import { domainOf } from "./inputs.js";

/** How long each may be kept. A release's files change only when a release is published anew. */
const METADATA_CACHE = { "cache-control": "public, max-age=3600" };
const SCHEMA_CACHE = { "cache-control": "public, max-age=86400" };
const HOSTED_CACHE = { "cache-control": "public, max-age=300" };
/** How the server is, is what it is now. */
const NOW_ONLY = { "cache-control": "no-store" };

type Ids =
  | "readAuthorizationServer"
  | "readProtectedResource"
  | "readHostedAdagents"
  | "readSchema"
  | "readExtractionVectors"
  | "readOpenapi"
  | "readHealth"
  | "readReadiness"
  | "readMetrics";

type BodyOf<Id extends Ids> = Awaited<ReturnType<ApiHandlers<Ids>[Id]>>["body"];

export const documentRoutes = (dependencies: RegistryServerDependencies): ApiHandlers<Ids> => {
  const { data, document, files, issuer, baseUrl, authorizationServers, telemetry } = dependencies;
  return {
    async readAuthorizationServer() {
      if (issuer === undefined)
        throw notFound("This server issues no tokens", { message: "Its protected-resource metadata name who does" });
      return { body: issuer.metadata as BodyOf<"readAuthorizationServer">, headers: METADATA_CACHE };
    },
    async readProtectedResource() {
      const body = {
        resource: `${baseUrl}/api`,
        authorization_servers: [...authorizationServers],
        bearer_methods_supported: ["header"],
        scopes_supported: [...scopes],
      };
      return { body, headers: METADATA_CACHE };
    },
    async readHostedAdagents({ params }) {
      const hosted = await within(data.hostedFile(domainOf(params.domain)));
      if (hosted === undefined) throw notFound("No file is hosted for this domain");
      return { body: hosted.file as BodyOf<"readHostedAdagents">, headers: HOSTED_CACHE };
    },
    async readSchema({ params }) {
      const file = files.release(params.version, params.path);
      if (file === undefined) throw notFound();
      return { body: file.body, headers: { ...SCHEMA_CACHE, etag: file.etag } };
    },
    async readExtractionVectors() {
      const file = files.vectors();
      if (file === undefined) throw notFound();
      return { body: file.body as BodyOf<"readExtractionVectors">, headers: { ...SCHEMA_CACHE, etag: file.etag } };
    },
    async readOpenapi() {
      return { body: document.json as BodyOf<"readOpenapi">, headers: HOSTED_CACHE };
    },
    async readHealth() {
      return { body: { status: "ok" }, headers: NOW_ONLY };
    },
    async readReadiness() {
      const { checks, searchParts } = await dependencies.faults();
      const bad = Object.values(checks).some((fault) => fault !== "ok");
      const status = bad ? 503 : 200;
      const split = searchParts === undefined ? {} : { search_parts: searchParts };
      return { status, body: { status: bad ? "unready" : "ready", checks, ...split }, headers: NOW_ONLY };
    },
    async readMetrics() {
      const headers = { ...NOW_ONLY, "content-type": "text/plain; version=0.0.4; charset=utf-8" };
      return { body: await telemetry.read(), headers };
    },
  };
};
