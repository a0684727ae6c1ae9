/** Domains and URLs as requests name them. */
import { agentUrlOf, publisherDomain } from "../../model.js";
import type { ExpandRequest, Page } from "../../types.js";
import { badRequest, unavailable } from "../problems.js";

/** @throws Problem 400 */
export function domainOf(text: string): string {
  const domain = publisherDomain(text);
  if (domain === undefined) throw badRequest("Invalid domain");
  return domain;
}

/** @throws Problem 400 */
export function agentOf(text: string): string {
  const url = agentUrlOf(text);
  if (url === undefined) throw badRequest("Invalid agent URL");
  return url;
}

/** Checks what the schema cannot say of the selectors. @throws Problem 400 */
export function checkedSelectors(request: ExpandRequest): ExpandRequest {
  agentOf(request.agent_url);
  for (const [at, selector] of request.publisher_properties.entries()) {
    const where = `publisher_properties.${at}`;
    const { publisher_domain, publisher_domains, selection_type } = selector;
    for (const domain of publisher_domains ?? [publisher_domain ?? ""]) {
      if (publisherDomain(domain) === undefined) throw badRequest(`Invalid domain in ${where}`);
    }
    if (selection_type === "by_id" && publisher_domains !== undefined)
      throw badRequest(
        `${where}: selection by identifier needs publisher_domain, for identifiers are a publisher's own`,
      );
    if (selection_type === "by_id" && !selector.property_ids?.length)
      throw badRequest(`Missing required field: ${where}.property_ids`);
    if (selection_type === "by_tag" && !selector.property_tags?.length && !selector.tags?.length)
      throw badRequest(`Missing required field: ${where}.property_tags`);
  }
  return request;
}

/** The value of a page. @throws Problem 400 for a cursor that leads nowhere, 503 where only parts that are gone have the next */
export function pageOf<T>(page: Page<T>): T {
  if (page.ok) return page.value;
  switch (page.reason) {
    case "cursor_expired":
      throw badRequest("The cursor has expired", { code: "cursor_expired", message: "Begin again without a cursor" });
    case "cursor_invalid":
      throw badRequest("Invalid cursor format", { code: "cursor_invalid" });
    case "parts_missing":
      throw unavailable(
        "The parts of the search index that have the next agents do not answer",
        "search_parts_missing",
      );
  }
}
