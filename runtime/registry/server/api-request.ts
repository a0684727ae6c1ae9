/** What a handler gets and gives, typed from the API document. */
import type { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { operations } from "../../../generated/registry/openapi.js";
import type { RegistryAccess } from "../../store/index.js";
import type { Crawler } from "../crawl/index.js";
import type { JsonBytes } from "../json-bytes.js";
import type { RegistryData, SearchPartState } from "../types.js";
import type { ApiIdentity } from "./auth/caller.js";
import type { Issuer } from "./auth/issuer.js";
import type { ApiDocument, OperationId } from "./document.js";
import type { FeedStreams } from "./feed-streams.js";
import type { Files } from "./files.js";
import type { RateCounter } from "./limits.js";
import { unavailable } from "./problems.js";
import type { Telemetry } from "./telemetry.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Who asks; anonymous until the header was read. */
    identity: ApiIdentity;
  }
  interface FastifyContextConfig {
    operation?: OperationId;
    /** Whoever asks is answered the same. */
    open?: boolean;
    /** Name of the limit that holds here. */
    bucket?: string;
  }
}

/** What handlers work with. */
export interface RegistryServerDependencies {
  readonly data: RegistryData;
  /** Undefined where the server does not crawl. */
  readonly crawler: Crawler | undefined;
  readonly access: RegistryAccess;
  readonly document: ApiDocument;
  readonly issuer: Issuer | undefined;
  readonly files: Files;
  readonly telemetry: Telemetry;
  /** Counts for the limits. */
  readonly count: RateCounter;
  /** Those who follow the feed. */
  readonly streams: FeedStreams;
  readonly log: Logger;
  /** Public base URL, no slash at its end. */
  readonly baseUrl: string;
  /** The page for people searches agents. */
  readonly pageSearch: boolean;
  /** Issuers whose tokens are accepted. */
  readonly authorizationServers: readonly string[];
  /** Clock in unix milliseconds. */
  readonly now: () => number;
  /** What does not work, and why; and how the parts of the search's index are, where it is split. */
  readonly faults: () => Promise<{
    readonly checks: Readonly<Record<string, string>>;
    readonly searchParts: readonly SearchPartState[] | undefined;
  }>;
}

type Json200<Id extends OperationId> = operations[Id]["responses"] extends {
  readonly 200: { readonly content: { readonly "application/json": infer Body } };
}
  ? Body
  : operations[Id]["responses"] extends {
        readonly 202: { readonly content: { readonly "application/json": infer Body } };
      }
    ? Body
    : operations[Id]["responses"] extends {
          readonly 200: { readonly content: { readonly [type: string]: infer Body } };
        }
      ? Body
      : never;

/** Lists may be written by handlers, whatever the document's types say. */
export interface ApiResponse<Body> {
  readonly body: Body | JsonBytes<Body> | Readable;
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The part of the body that its fingerprint is made of, where that is not all; it is then a weak one. */
  readonly fingerprint?: (bytes: Buffer) => Buffer;
}

type In<Id extends OperationId, Place extends string> = operations[Id]["parameters"] extends {
  readonly [P in Place]?: infer Values;
}
  ? Exclude<Values, undefined>
  : never;

export interface ApiRequest<Id extends OperationId> {
  readonly query: In<Id, "query">;
  readonly params: In<Id, "path">;
  readonly body: operations[Id] extends {
    readonly requestBody: { readonly content: { readonly "application/json": infer Body } };
  }
    ? Body
    : undefined;
  readonly request: FastifyRequest;
}

/** One function per operation: leaving one out does not compile. */
export type ApiHandlers<Ids extends OperationId = OperationId> = {
  readonly [Id in Ids]: (call: ApiRequest<Id>) => Promise<ApiResponse<Json200<Id>>>;
};

/** How long an answer that is made of the data may be kept; asking again with its fingerprint costs little. */
export const LOOKUP_CACHE = "public, max-age=60";

/**
 * docs/protocol/registry.md#common-rules: the longest a lookup may take, in milliseconds; then the caller is asked to come
 * again.
 */
const LOOKUP_MS = 8_000;

/** @throws Problem 503 when the lookup is not there in time */
export async function within<T>(lookup: Promise<T>, ms = LOOKUP_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable("The lookup took too long", "publisher_lookup_timeout")), ms);
  });
  try {
    return await Promise.race([lookup, late]);
  } finally {
    clearTimeout(timer);
  }
}
