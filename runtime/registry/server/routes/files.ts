/** What is wrong with a file, and files made from what they are to say. */
import type { components } from "../../../../generated/registry/openapi.js";
import { type Inspected, inspectFile } from "../../crawl/inspect.js";
import type { FileProblem } from "../../file-problems.js";
import { expectedUrl } from "../../model.js";
import { type ApiHandlers, type RegistryServerDependencies, within } from "../api-request.js";
import { badRequest, unavailable } from "../problems.js";
import { domainOf } from "./inputs.js";

type FileValidation = components["schemas"]["FileValidation"];

/** A publisher's origin may take its time: two fetches and their redirects, in milliseconds. */
const INSPECT_MS = 30_000;
/** Whom a new file speaks for while nobody says. */
const SOME_DOMAIN = "publisher.example";
const SCHEMA_URL = "https://adcontextprotocol.org/schemas/v3/adagents.json";

type Ids = "validateProperty" | "validatePublisher" | "validateAdagents" | "createAdagents";

const faultOf = ({ pointer, message, rule, remedy }: FileProblem, severity: "error" | "warning") => ({
  field: pointer,
  message,
  severity,
  rule,
  suggestion: remedy,
});

function validationOf(domain: string, found: Inspected): FileValidation {
  const valid = found.outcome === "valid";
  // Of a file that is not taken the first problem is why.
  const errors = valid ? [] : found.problems.slice(0, 1);
  return {
    valid,
    domain,
    url: expectedUrl(domain),
    errors: errors.map((one) => faultOf(one, "error")),
    warnings: found.problems.slice(errors.length).map((one) => faultOf(one, "warning")),
    discovery_method: found.method,
    ...(found.httpStatus !== null && { status_code: found.httpStatus }),
    ...(found.bytes !== null && { response_bytes: found.bytes }),
    ...(found.resolvedUrl !== null && { resolved_url: found.resolvedUrl }),
    ...(found.managerDomain !== null && { manager_domain: found.managerDomain }),
    ...(found.file !== undefined && {
      agent_count: found.file.agents.length,
      property_count: found.file.properties.length,
    }),
  };
}

const texts = (faults: FileValidation["errors"]): string[] =>
  faults.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`));

const inspecting =
  ({ crawler }: RegistryServerDependencies) =>
  async (text: string): Promise<{ domain: string; found: Inspected }> => {
    const domain = domainOf(text);
    if (crawler === undefined) throw unavailable("This server does not crawl", "crawler_off");
    const found = await within(crawler.inspect(domain), INSPECT_MS);
    if (found === undefined) throw badRequest("The domain cannot be crawled", { code: "unsafe" });
    return { domain, found };
  };

export const fileRoutes = (dependencies: RegistryServerDependencies): ApiHandlers<Ids> => {
  const { now } = dependencies;
  const inspect = inspecting(dependencies);
  const timestamp = (): string => new Date(now()).toISOString();
  return {
    async validateProperty({ query }) {
      const { domain, found } = await inspect(query.domain);
      const { errors, warnings, resolved_url: _, response_bytes: __, ...verdict } = validationOf(domain, found);
      return { body: { ...verdict, errors: texts(errors), warnings: texts(warnings) } };
    },
    async validatePublisher({ query }) {
      const { domain, found } = await inspect(query.domain);
      const { valid, url, errors, warnings, discovery_method, manager_domain } = validationOf(domain, found);
      const properties = found.file?.properties ?? [];
      const types = Map.groupBy(properties, ({ type }) => type);
      const body = {
        valid,
        domain,
        url,
        discovery_method,
        ...(manager_domain !== undefined && { manager_domain }),
        agent_count: found.file?.agents.length ?? 0,
        property_count: properties.length,
        property_type_counts: Object.fromEntries([...types].map(([type, some]) => [type, some.length])),
        tag_count: new Set(properties.flatMap(({ tags }) => tags)).size,
        errors: texts(errors),
        warnings: texts(warnings),
      };
      return { body };
    },
    async validateAdagents({ body }) {
      const given = body.adagents_json;
      const { domain, found } =
        given === undefined
          ? await inspect(body.domain)
          : { domain: domainOf(body.domain), found: inspectFile(given, domainOf(body.domain), now()) };
      const there = found.outcome === "valid" || found.outcome === "invalid" || found.outcome === "held";
      const data = { domain, found: there, validation: validationOf(domain, found) };
      return { body: { success: true, data, timestamp: timestamp() } };
    },
    async createAdagents({ body }) {
      const { include_schema = true, include_timestamp = true, domain: given, ...content } = body;
      const file = {
        ...(include_schema && { $schema: SCHEMA_URL }),
        ...content,
        ...(include_timestamp && { last_updated: timestamp() }),
      };
      const domain = given === undefined ? SOME_DOMAIN : domainOf(given);
      const validation = validationOf(domain, inspectFile(file, domain, now()));
      // Nobody is handed a file that would not be taken.
      if (!validation.valid) throw badRequest(texts(validation.errors).join("; "), { more: { validation } });
      const data = { success: true, adagents_json: JSON.stringify(file, null, 2), validation };
      return { body: { success: true, data, timestamp: timestamp() } };
    },
  };
};
