/** The brands you speak for, what they license at which price, and who decides. Brands and rights are asked for at every call. */
import { type BrandsPort, exampleBrands } from "adbind/behaviours";

export const brands: BrandsPort = {
  // What clients are tested with; put your own in its place.
  ...exampleBrands,
  // What an offering allows is granted. To think about it, answer `wait`, and be asked again; a refusal names its reason.
  decide: async ({ countries }) =>
    countries.length > 50
      ? { decision: "wait", detail: "Worldwide licences are signed by a person.", within: "2 business days" }
      : { decision: "grant" },
  // Licences that you take back: their buyers are told once.
  revoked: async () => [],
};
