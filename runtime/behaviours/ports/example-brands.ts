/** Brands that clients are tested with, and what they license. */
import type { BrandsPort, ClaimAnswer, ClaimQuestion, OwnBrand, RightsOffering } from "./brands.js";

const brands: readonly OwnBrand[] = [
  {
    brand_id: "acme_outdoor",
    house: { domain: "acmeoutdoor.example", name: "Acme Outdoor" },
    names: [{ en: "Acme Outdoor" }],
    identity: {
      description: "Outdoor gear for every adventure, from trail to summit.",
      industries: ["retail"],
      keller_type: "master",
      tagline: "Gear that performs",
      logos: [
        {
          url: "https://assets.acmeoutdoor.example/logo-primary.png",
          orientation: "horizontal",
          background: "light-bg",
          variant: "primary",
          width: 400,
          height: 100,
        },
        {
          url: "https://assets.acmeoutdoor.example/logo-icon.png",
          orientation: "square",
          background: "transparent-bg",
          variant: "icon",
          width: 200,
          height: 200,
        },
      ],
      colors: {
        primary: "#1B5E20",
        secondary: "#FF6F00",
        accent: "#FDD835",
        background: "#FAFAFA",
        text: "#212121",
      },
      fonts: { primary: { family: "Montserrat" }, secondary: { family: "Open Sans" } },
      tone: {
        voice: "confident, adventurous, never pretentious",
        attributes: ["active", "direct", "warm"],
        dos: ["Use action verbs", "Name real outdoor activities", "Keep it short"],
        donts: ["Use superlatives without evidence", "Talk down to the reader"],
      },
      voice_synthesis: { provider: "in-house", voice_id: "acme-narrator" },
      rights: {
        available_uses: ["ai_generated_image", "commercial", "endorsement", "likeness"],
        countries: ["US", "CA"],
      },
    },
    withheld: ["voice_synthesis"],
  },
  {
    brand_id: "nova_motors",
    house: { domain: "novamotors.example", name: "Nova Motors" },
    names: [{ en: "Nova Motors" }],
    identity: {
      description: "Electric vehicles for the next generation.",
      industries: ["automotive"],
      keller_type: "master",
      logos: [
        {
          url: "https://assets.novamotors.example/logo-primary.png",
          orientation: "horizontal",
          background: "light-bg",
          variant: "primary",
          width: 400,
          height: 100,
        },
      ],
      colors: { primary: "#0D47A1", secondary: "#00BFA5", accent: "#FF6D00", background: "#F5F5F5", text: "#1A1A1A" },
      fonts: { primary: { family: "Inter" } },
      tone: {
        voice: "forward-thinking, precise",
        attributes: ["innovative", "precise", "optimistic"],
        dos: ["Lead with what the car does"],
        donts: ["Overstate environmental claims"],
      },
    },
  },
];

const offerings: readonly RightsOffering[] = [
  {
    rights_id: "acme_trail_imagery",
    brand_id: "acme_outdoor",
    name: "Acme Outdoor trail imagery",
    description: "Image generation with the brand's people, trails and gear, for advertising.",
    right_type: "brand_ip",
    available_uses: ["ai_generated_image", "commercial", "likeness"],
    countries: ["US", "CA"],
    restrictions: ["No weapons or hunting scenes", "Show gear as it is sold"],
    disclosure: "Image made with AI under licence of Acme Outdoor.",
    pricing: [
      {
        pricing_option_id: "trail_imagery_monthly",
        model: "flat_rate",
        price: 40,
        currency: "USD",
        period: "monthly",
        uses: ["ai_generated_image", "commercial", "likeness"],
        impression_cap: 100_000,
        overage_cpm: 0.4,
      },
      {
        pricing_option_id: "trail_imagery_cpm",
        model: "cpm",
        price: 0.6,
        currency: "USD",
        uses: ["ai_generated_image", "commercial"],
      },
    ],
  },
  {
    rights_id: "acme_ambassador",
    brand_id: "acme_outdoor",
    name: "Acme Outdoor ambassador",
    description: "Endorsement by the brand's ambassador, a mountain guide, in regional retail campaigns.",
    right_type: "talent",
    available_uses: ["commercial", "endorsement", "likeness"],
    countries: ["US", "CA"],
    restrictions: ["Every claim is agreed with the ambassador"],
    pricing: [
      {
        pricing_option_id: "ambassador_quarterly",
        model: "flat_rate",
        price: 12_000,
        currency: "USD",
        period: "quarterly",
        uses: ["commercial", "endorsement", "likeness"],
      },
    ],
  },
  {
    rights_id: "nova_volta_footage",
    brand_id: "nova_motors",
    name: "Nova Volta driving footage",
    description: "Footage and generated images of the Volta on coastal roads.",
    right_type: "stock_media",
    available_uses: ["ai_generated_image", "commercial", "editorial"],
    closedTo: ["retail-rival.example"],
    pricing: [
      {
        pricing_option_id: "volta_footage_quarterly",
        model: "flat_rate",
        price: 4_000,
        currency: "USD",
        period: "quarterly",
        uses: ["ai_generated_image", "commercial", "editorial"],
      },
    ],
  },
];

const same = (a: unknown, b: string): boolean => typeof a === "string" && a.toLowerCase() === b;

/** What the first of them says of itself. */
function answered({ claim_type, claim }: ClaimQuestion): ClaimAnswer {
  switch (claim_type) {
    case "subsidiary":
      return same(claim.subsidiary_domain, "trailkitchen.example")
        ? { status: "owned", details: { brand_id: "trail_kitchen" } }
        : { status: "not_ours" };
    case "parent":
      return { status: "not_ours", note: "Acme Outdoor is a house of its own." };
    case "property": {
      const { identifier } = claim.property as { identifier?: unknown };
      return same(identifier, "acmeoutdoor.example")
        ? { status: "owned", details: { relationship: "owned" } }
        : { status: "unknown" };
    }
    case "trademark":
      return same(claim.mark, "acme outdoor")
        ? { status: "owned", details: { countries: ["US", "CA"] } }
        : { status: "not_ours" };
  }
}

/** Brands of a made-up house, to start from. */
export const exampleBrands: BrandsPort = {
  rightTypes: [...new Set(offerings.map(({ right_type }) => right_type))].sort(),
  uses: [...new Set(offerings.flatMap(({ available_uses }) => available_uses))].sort(),
  brands: async () => brands,
  offerings: async () => offerings,
  claims: { domain: "acmeoutdoor.example", answer: async (claim) => answered(claim) },
};
