/** What those who have lists ask and get. */
import type { components } from "../../generated/registry/openapi.js";

type Schemas = components["schemas"];
/** What is known of one property of a list. */
export type PropertyCheck = Schemas["PropertyCheck"];
/** What is known of one identifier of a list. */
export type IdentifierCheck = Schemas["IdentifierCheck"];

/** Of the registry's data what is asked about lists. */
export interface CheckedData {
  /** @param domains as somebody wrote them */
  checkDomains(domains: readonly string[]): Promise<PropertyCheck>;
  /** @param identifiers domains, bundle identifiers and addresses in stores, as somebody wrote them */
  checkIdentifiers(identifiers: readonly string[]): Promise<IdentifierCheck>;
  /** A check of the last seven days, as it was; the oldest are forgotten sooner where there are too many. */
  propertyCheck(id: string): Promise<PropertyCheck | undefined>;
  identifierCheck(id: string): Promise<IdentifierCheck | undefined>;
}
