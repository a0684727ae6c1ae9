/** Whether an order's formats are taken or refused as the products of earlier answers say: `canonical_format_satisfaction`. */
import { isJsonObject } from "../../contract/index.js";
import { errorCodeOf, isFailedAnswer } from "../agent/outcome.js";
import { valuesAt } from "../paths.js";
import { type CheckRunner, failed, passed } from "./types.js";

export const canonicalFormatSatisfaction: CheckRunner = (check, view) => {
  const { answer, history, sent } = view;
  if (answer === undefined || view.step.task !== "create_media_buy")
    return { outcome: "not_graded", note: "only an order has formats to satisfy" };
  for (const { pointer, value } of valuesAt(sent, "packages[*].product_id")) {
    const offered = history.findLast(({ payload }) =>
      valuesAt(payload, "products[*]").some((one) => isJsonObject(one.value) && one.value.product_id === value),
    );
    if (offered === undefined)
      return failed(pointer, `a product that an earlier get_products offered`, value, "the step's own setup failed");
  }
  const refused = isFailedAnswer(answer, view.answered);
  const code = errorCodeOf(answer, view.answered);
  if (check.value === false)
    return refused ? passed() : failed("", "the order is refused for its format", "it was accepted");
  return refused ? failed(code?.pointer ?? "", "the order is accepted", code?.code ?? answer.error?.message) : passed();
};
