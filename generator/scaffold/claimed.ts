/** Specialisms of a release, as whoever makes a project names them. */
import { AdbindError } from "../../runtime/errors.js";
import { specialismIn } from "../load/part.js";
import type { Model } from "../model/model.js";

/** The file that says what a project claims. */
export const CLAIMS_FILE = "src/seller.ts";

const usage = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("usage", what, { where, remedy });

/** Each once: what a project claims already, and what is asked for. */
export const answeredSpecialisms = (model: Model, claimed: readonly string[], asked: readonly string[]): string[] => [
  ...new Set([
    ...claimed.map((id) => answeredSpecialism(model, id, CLAIMS_FILE)),
    ...asked.map((id) => answeredSpecialism(model, id)),
  ]),
];

/** A seller answers; what a buyer takes on is a project of another kind. */
function answeredSpecialism(model: Model, id: string, where?: string): string {
  const known = knownSpecialism(model, id, where);
  const role = model.specialisms.find((one) => one.id === known)?.role;
  if (role === undefined) return known;
  throw usage(
    `${known} is for a ${role}, who calls its tools and answers none`,
    "--specialism",
    `adbind new buyer ... --specialism ${known} makes one`,
  );
}

const idsOf = (model: Model): string[] => model.specialisms.map(({ id }) => id);

/** @param where who names it: the command line, or what the project claims already */
export function knownSpecialism(model: Model, id: string, where = "--specialism"): string {
  const known = specialismIn(idsOf(model), id);
  if (known !== undefined) return known;
  const instead = `some of ${idsOf(model).join(", ")}`;
  const remedy =
    where === CLAIMS_FILE
      ? `stay with a release that has it, or take it out of there first; the release has ${instead}`
      : `give ${instead}`;
  throw usage(`release ${model.version} has no specialism ${id}`, where, remedy);
}
