/** What is the seller's own: each port a small interface, with a default that works. */
import { type AccountsPort, openAccounts } from "./accounts.js";
import { type AdServer, ownAdServer } from "./ad-server.js";
import { type Approvals, signedApprovals } from "./approvals.js";
import { type AudiencesPort, countedAudiences } from "./audiences.js";
import type { BrandsPort } from "./brands.js";
import { type Catalogue, listedCatalogue } from "./catalogue.js";
import { type CollectionsPort, exampleCollections } from "./collections.js";
import type { ConversationsPort } from "./conversations.js";
import type { Creatives } from "./creatives.js";
import { type EventsPort, keptEvents } from "./events.js";
import { exampleBrands } from "./example-brands.js";
import { exampleProducts, exampleProposals } from "./example-catalogue.js";
import { exampleConversations } from "./example-conversations.js";
import { exampleCreatives } from "./example-formats.js";
import { exampleProperties } from "./example-properties.js";
import { exampleSignals } from "./example-signals.js";
import { exampleTransformers } from "./example-transformers.js";
import { askedGovernance, type GovernancePort } from "./governance.js";
import { plainPolicies } from "./plain-policies.js";
import type { PolicyPort } from "./policy.js";
import type { PropertiesPort } from "./properties.js";
import type { ProvenancePort } from "./provenance.js";
import { adServerReporting, type Reporting } from "./reporting.js";
import { listedSignals, type Signals } from "./signals.js";
import { tellPlatform } from "./tell.js";
import type { TransformersPort } from "./transformers.js";

export type * from "./accounts.js";
export type * from "./ad-server.js";
export type * from "./approvals.js";
export type * from "./audiences.js";
export type * from "./brands.js";
export type * from "./breakdowns.js";
export type * from "./catalogue.js";
export type * from "./collections.js";
export type * from "./conversations.js";
export type * from "./creatives.js";
export type * from "./delivery-time.js";
export type * from "./events.js";
export type * from "./governance.js";
export type * from "./policy.js";
export type * from "./properties.js";
export type * from "./provenance.js";
export type * from "./report-feeds.js";
export type * from "./reporting.js";
export type * from "./signals.js";
export type * from "./transformers.js";
export type * from "./upstream.js";
export {
  askedGovernance,
  exampleBrands,
  exampleCollections,
  exampleConversations,
  exampleCreatives,
  exampleProducts,
  exampleProperties,
  exampleProposals,
  exampleSignals,
  exampleTransformers,
  listedCatalogue,
  listedSignals,
  openAccounts,
  ownAdServer,
  plainPolicies,
  signedApprovals,
  tellPlatform,
};

/** Everything that is the application's own, each with a working default. */
export interface Ports {
  readonly catalogue: Catalogue;
  readonly adServer: AdServer;
  readonly approvals: Approvals;
  readonly accounts: AccountsPort;
  readonly creatives: Creatives;
  readonly signals: Signals;
  readonly reporting: Reporting;
  readonly events: EventsPort;
  readonly provenance: ProvenancePort;
  readonly governance: GovernancePort;
  readonly properties: PropertiesPort;
  readonly collections: CollectionsPort;
  readonly policy: PolicyPort;
  readonly brands: BrandsPort;
  readonly conversations: ConversationsPort;
  readonly transformers: TransformersPort;
  readonly audiences: AudiencesPort;
}

/** Those that are given, and defaults for the others. */
export const portsFrom = (given: Partial<Ports>, mode: "development" | "production"): Ports => ({
  catalogue: given.catalogue ?? listedCatalogue(exampleProducts, exampleProposals),
  adServer: given.adServer ?? ownAdServer,
  approvals: given.approvals ?? signedApprovals(),
  accounts: given.accounts ?? openAccounts,
  creatives: given.creatives ?? exampleCreatives,
  signals: given.signals ?? listedSignals(exampleSignals),
  reporting: given.reporting ?? adServerReporting,
  events: given.events ?? keptEvents,
  provenance: given.provenance ?? {},
  governance: given.governance ?? askedGovernance({ net: { allowLoopback: mode === "development" } }),
  properties: given.properties ?? exampleProperties,
  collections: given.collections ?? exampleCollections,
  policy: given.policy ?? plainPolicies,
  brands: given.brands ?? exampleBrands,
  conversations: given.conversations ?? exampleConversations,
  transformers: given.transformers ?? exampleTransformers,
  audiences: given.audiences ?? countedAudiences,
});
