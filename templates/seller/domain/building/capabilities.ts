import type { JsonObject } from "adbind/contract";

export const capabilities: JsonObject = {
  creative: { supports_generation: true, supports_transformation: true, supports_compliance: false },
};
