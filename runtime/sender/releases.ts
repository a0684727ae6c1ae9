/** The releases that a sender speaks: each task and channel is told of in its own. */
import type { Release } from "../contract/index.js";
import { validatorsFrom } from "../validate/source.js";
import type { AnyValidator, ValidatorSource } from "../validate/types.js";

export interface SenderRelease {
  readonly release: Release;
  readonly validator: AnyValidator;
}

export interface SenderReleases {
  /** The release of a version; the first where it is not given, or not served any more. */
  of(version?: string | null): SenderRelease;
}

/** Validators are made at once: what is stored is judged inside transactions, which wait for nothing. */
export async function openSenderReleases(
  given: readonly [Release, ...Release[]],
  validator: ValidatorSource | undefined,
): Promise<SenderReleases> {
  const distinct = given.filter((one, at) => given.findIndex(({ version }) => version === one.version) === at);
  // A validator of one release judges the first.
  const source = typeof validator === "object" ? undefined : validator;
  const made = validatorsFrom(source, distinct)!;
  const releases = await Promise.all(
    distinct.map(async (release, at): Promise<SenderRelease> => {
      const own = at === 0 && typeof validator === "object" ? validator : await made(release);
      return { release, validator: own };
    }),
  );
  const byVersion = new Map(releases.map((one) => [one.release.version, one]));
  return { of: (version) => (version == null ? undefined : byVersion.get(version)) ?? releases[0]! };
}
