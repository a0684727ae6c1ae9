/** Where the operations of a registry are, and what each takes and answers. */
import type { operations } from "../../generated/registry/openapi.js";

/** Operation -> where it is. A test compares this with the API document. */
export const places = {
  expandProductIdentifiers: ["POST", "/api/registry/expand/product-identifiers"],
  lookupPublisher: ["GET", "/api/registry/publisher"],
  lookupAuthorization: ["GET", "/api/registry/publisher/authorization"],
  lookupOperator: ["GET", "/api/registry/operator"],
  searchAgents: ["GET", "/api/registry/agents/search"],
  listAgentPublishers: ["GET", "/api/registry/agents/{agent_url}/publishers"],
  lookupDomain: ["GET", "/api/registry/lookup/domain/{domain}"],
  lookupProperty: ["GET", "/api/registry/lookup/property"],
  validateProductAuthorization: ["POST", "/api/registry/validate/product-authorization"],
  requestCrawl: ["POST", "/api/registry/crawl-request"],
  requestBrandCrawl: ["POST", "/api/registry/brand-crawl-request"],
  readCrawlRequest: ["GET", "/api/registry/crawl-request/{crawl_request_id}"],
  revalidateAdagents: ["POST", "/api/registry/publisher/{domain}/adagents/revalidate"],
  requestManagerRevalidation: ["POST", "/api/registry/manager-revalidation-request"],
  readFeed: ["GET", "/api/registry/feed"],
  listAuthorizations: ["GET", "/api/registry/authorizations"],
  listAgents: ["GET", "/api/registry/agents"],
  listPublishers: ["GET", "/api/registry/publishers"],
  listAgentDomains: ["GET", "/api/registry/lookup/agent/{agent_url}/domains"],
  validatePropertyAuthorization: ["GET", "/api/registry/validate/property-authorization"],
  readStats: ["GET", "/api/registry/stats"],
} as const satisfies Partial<Record<keyof operations, readonly ["GET" | "POST", string]>>;

export type ClientOperation = keyof typeof places;

type Values<Id extends ClientOperation, Place extends "query" | "path"> = operations[Id]["parameters"] extends {
  readonly [P in Place]?: infer Given;
}
  ? // A place without parameters has the type never, which would make the whole request one.
    [Exclude<Given, undefined>] extends [never]
    ? unknown
    : Exclude<Given, undefined>
  : unknown;

type BodyOf<Id extends ClientOperation> = operations[Id] extends {
  readonly requestBody: { readonly content: { readonly "application/json": infer Body } };
}
  ? Body
  : unknown;

/** Query, path and body of an operation in one object, by the names of the API document. */
export type RegistryRequest<Id extends ClientOperation> = Values<Id, "query"> & Values<Id, "path"> & BodyOf<Id>;

type Success<Responses> = {
  [Status in keyof Responses]: Status extends 200 | 202
    ? Responses[Status] extends { readonly content: { readonly "application/json": infer Body } }
      ? Body
      : never
    : never;
}[keyof Responses];

/** What an operation of the client answers when it succeeds. */
export type RegistryResponse<Id extends ClientOperation> = Success<operations[Id]["responses"]>;
