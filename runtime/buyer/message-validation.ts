/** Requests and answers against the release's schemas, where the application wants to be told. */
import type { AnyTool, JsonObject, Release } from "../contract/index.js";
import { safely } from "../listener.js";
import type { ExchangeResult } from "./exchange.js";
import { localError } from "./fault.js";
import type { BuyerSettings } from "./settings.js";
import type { LocalError } from "./types.js";

export interface MessageValidation {
  /** @returns why a request is not sent */
  request(release: Release, tool: AnyTool, args: JsonObject): Promise<LocalError | undefined>;
  answer(release: Release, tool: AnyTool, outcome: ExchangeResult): Promise<void>;
}

export function createMessageValidation({ onInvalid, validatorOf }: BuyerSettings): MessageValidation {
  if (onInvalid === undefined) return { request: async () => undefined, answer: async () => {} };
  return {
    async request(release, { name }, args) {
      const judged = (await validatorOf(release)).request(name, args);
      if (judged.ok) return undefined;
      const { errors } = judged;
      const told = { tool: name, direction: "request", release: release.version, status: undefined, errors } as const;
      safely(() => onInvalid(told));
      const [first] = errors;
      return localError("INVALID_REQUEST", `${first?.pointer ?? ""} ${first?.message ?? ""}`.trim(), "correctable", {
        ...(first !== undefined && first.pointer !== "" && { field: first.pointer }),
      });
    },
    async answer(release, { name }, { answer, payload }) {
      const { status } = answer;
      if (payload === null) return;
      const judged = (await validatorOf(release)).arm(name, status, payload);
      if (judged.ok) return;
      const { errors } = judged;
      safely(() => onInvalid({ tool: name, direction: "answer", release: release.version, status, errors }));
    },
  };
}
