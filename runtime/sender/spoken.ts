/** The releases that a sender speaks: each task and channel is told of in its own. */
import type { Release } from "../contract/index.js";
import { validatorsFrom } from "../validate/source.js";
import type { AnyValidator, ValidatorSource } from "../validate/types.js";

export interface SpokenRelease {
  readonly release: Release;
  readonly validator: AnyValidator;
}

export interface SenderReleases {
  /** The release of a version; the first where it is not given, or not spoken any more. */
  of(version?: string | null): SpokenRelease;
}

/** Validators are made at once: what is stored is judged inside transactions, which wait for nothing. */
export async function spokenReleases(
  releases: readonly [Release, ...Release[]],
  validator: ValidatorSource | undefined,
): Promise<SenderReleases> {
  const distinct = releases.filter((one, at) => releases.findIndex(({ version }) => version === one.version) === at);
  // A validator of one release judges the first.
  const given = typeof validator === "object" ? undefined : validator;
  const made = validatorsFrom(given, distinct)!;
  const spoken = await Promise.all(
    distinct.map(async (release, at): Promise<SpokenRelease> => {
      const own = at === 0 && typeof validator === "object" ? validator : await made(release);
      return { release, validator: own };
    }),
  );
  const byVersion = new Map(spoken.map((one) => [one.release.version, one]));
  return { of: (version) => (version == null ? undefined : byVersion.get(version)) ?? spoken[0]! };
}
