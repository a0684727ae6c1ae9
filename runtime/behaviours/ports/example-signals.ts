/** Signals to begin with. */
import type { Signal } from "./signals.js";

const cpm = (pricing_option_id: string, price: number) =>
  [{ pricing_option_id, model: "cpm", cpm: price, currency: "USD" }] as const;

/** Other providers' data, by their published catalogues. */
const marketplaceSignals: readonly Signal[] = [
  {
    segmentId: "trident_likely_ev_buyers",
    name: "Likely EV Buyers",
    description: "Audience in market for an electric vehicle (EV), from auto shopping and dealership research.",
    provider: "Trident Auto Data",
    origin: { catalog: "marketplace", domain: "tridentauto.example", id: "likely_ev_buyers" },
    value: { type: "binary" },
    coverage: 8,
    pricing: cpm("po_trident_ev_cpm", 3.5),
  },
  {
    segmentId: "trident_purchase_propensity",
    name: "Purchase Propensity",
    description:
      "Score of how likely an audience member is to buy a car in the next 90 days, electric vehicles included.",
    provider: "Trident Auto Data",
    origin: { catalog: "marketplace", domain: "tridentauto.example", id: "purchase_propensity" },
    value: { type: "numeric", min: 0, max: 1 },
    coverage: 55,
    pricing: cpm("po_trident_propensity_cpm", 4),
  },
  {
    segmentId: "meridian_competitor_visitors",
    name: "Competitor Visitors",
    description: "Audience seen at dealerships of competing auto brands in the last 30 days.",
    provider: "Meridian Geo",
    origin: { catalog: "marketplace", domain: "meridiangeo.example", id: "competitor_visitors" },
    value: { type: "binary" },
    coverage: 6,
    pricing: cpm("po_meridian_visitors_cpm", 5),
  },
  {
    segmentId: "meridian_outdoor_enthusiasts",
    name: "Outdoor Enthusiasts",
    description: "Audience that visits trails, climbing halls and camp sites at least twice a month.",
    provider: "Meridian Geo",
    origin: { catalog: "marketplace", domain: "meridiangeo.example", id: "outdoor_enthusiasts" },
    value: { type: "binary" },
    coverage: 14,
    pricing: cpm("po_meridian_outdoor_cpm", 2.75),
    countries: ["US", "CA", "GB"],
  },
  {
    segmentId: "shopgrid_new_to_brand",
    name: "New to Brand",
    description: "Retail audience without a purchase of the brand in the last year.",
    provider: "ShopGrid",
    origin: { catalog: "marketplace", domain: "shopgrid.example", id: "new_to_brand" },
    value: { type: "binary" },
    coverage: 25,
    pricing: cpm("po_shopgrid_retail_cpm", 3.5),
  },
];

/** First-party data of the agent itself. */
const ownedSignals: readonly Signal[] = [
  {
    segmentId: "prism_high_ltv",
    name: "High LTV Customers",
    description: "Audience of high-value customers by lifetime purchase value, from the loyalty program.",
    provider: "Prism CDP",
    origin: { catalog: "owned", id: "high_ltv" },
    value: { type: "binary" },
    coverage: 12,
    pricing: [
      {
        pricing_option_id: "po_prism_flat_monthly",
        model: "flat_fee",
        amount: 5000,
        period: "monthly",
        currency: "USD",
      },
    ],
  },
  {
    segmentId: "prism_cart_abandoner",
    name: "Cart Abandoners",
    description: "Audience that left a filled cart in the last 14 days: purchase behavior on site and in the app.",
    provider: "Prism CDP",
    origin: { catalog: "owned", id: "cart_abandoner" },
    value: { type: "binary" },
    coverage: 18,
    pricing: cpm("po_prism_abandoner_cpm", 8),
  },
  {
    segmentId: "prism_engagement_score",
    name: "Engagement Score",
    description: "Audience by engagement with mail, app and store, from 0 to 100; a signal of purchase behavior.",
    provider: "Prism CDP",
    origin: { catalog: "owned", id: "engagement_score" },
    value: { type: "numeric", min: 0, max: 100 },
    coverage: 65,
    pricing: cpm("po_prism_engagement_cpm", 2.5),
  },
  {
    segmentId: "prism_churn_risk",
    name: "Churn Risk",
    description: "Audience by the risk that a customer does not purchase again.",
    provider: "Prism CDP",
    origin: { catalog: "owned", id: "churn_risk" },
    value: { type: "categorical", categories: ["low_risk", "medium_risk", "high_risk", "churned"] },
    coverage: 70,
    pricing: [
      {
        pricing_option_id: "po_prism_churn_pom",
        model: "percent_of_media",
        percent: 12,
        max_cpm: 3,
        currency: "USD",
      },
    ],
  },
];

/** Signals of a made-up provider, to start from. */
export const exampleSignals: readonly Signal[] = [...marketplaceSignals, ...ownedSignals];
