/** Checks of a buyer's request: fields of it, by their paths. */
import { type CheckFinding, failed, passed } from "../checks/types.js";
import { isSame } from "../equality.js";
import { fieldAt, hasWildcard, pointerOfPath, valuesAt } from "../paths.js";
import type { BuyerCheck } from "./types.js";

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  uuid_v4: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(text),
  iso8601: (text) => /^\d{4}-\d{2}-\d{2}(T|$)/.test(text) && !Number.isNaN(Date.parse(text)),
  url: (text) => URL.canParse(text),
};

type Judge = (value: unknown) => CheckFinding | undefined;

/** Looks at the field's one value, or at each where the path has a wildcard. */
const each =
  (judge: (check: Parameters<BuyerCheck>[0]) => Judge): BuyerCheck =>
  (check, { call, step }) => {
    const path = check.path ?? "";
    if (call === undefined) return failed("", `a call of ${step.task}`, "none");
    const found = hasWildcard(path)
      ? valuesAt(call.args, path)
      : [{ pointer: pointerOfPath(path), value: fieldAt(call.args, path) }];
    const present = found.filter(({ value }) => value !== undefined && value !== null);
    if (present.length === 0) return failed(pointerOfPath(path), "a value", null);
    for (const { pointer, value } of present) {
      const wrong = judge(check)(value);
      if (wrong !== undefined) return { ...wrong, pointer };
    }
    return passed();
  };

export const requestChecks: Readonly<Record<string, BuyerCheck>> = {
  request_field_present: each(() => () => undefined),
  request_field_value: each(
    ({ value: wanted }) =>
      (value) =>
        isSame(value, wanted) ? undefined : failed("", wanted, value),
  ),
  request_field_in: each((check) => (value) => {
    const listed = check.allowed ?? check.allowed_values;
    const allowed = Array.isArray(listed) ? listed : [];
    return allowed.some((one) => isSame(one, value)) ? undefined : failed("", { one_of: allowed }, value);
  }),
  request_field_format: each(({ format }) => (value) => {
    const name = String(format);
    const holds = Object.hasOwn(formats, name) ? formats[name] : undefined;
    if (holds === undefined) return { outcome: "not_graded", note: `no format ${name} is known` };
    return typeof value === "string" && holds(value) ? undefined : failed("", { format: name }, value);
  }),
  request_field_at_most: each(
    ({ value: most }) =>
      (value) =>
        typeof value === "number" && typeof most === "number" && value <= most
          ? undefined
          : failed("", { at_most: most }, value),
  ),
};
