/** Whether a domain may be crawled at all, judged before anything is queued for it. */
import { addressKind, type Lookup } from "../../net/index.js";

/** A resolver that stays silent must not hold a publisher's lookup up, in milliseconds. */
const RESOLVE_MS = 2_000;
/** The crawler's own fetch refuses them anyway; asking a resolver about them would already tell it something. */
const localName = /\.(?:localhost|localdomain|local|internal|intranet|private|corp|lan|home|arpa|onion)$/;

/** `unknown`: the resolver gave no answer. A name that does not exist and one that is not public are told alike. */
export type Safety = "safe" | "unsafe" | "unknown";

const missing: readonly unknown[] = ["ENOTFOUND", "ENODATA", "EAI_NONAME", "EAI_NODATA"];

export type SafetyCheck = (domain: string) => Promise<Safety>;

export function safetyCheck(lookup: Lookup): SafetyCheck {
  return async (domain) => {
    if (localName.test(`.${domain}`)) return "unsafe";
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((done) => {
      timer = setTimeout(done, RESOLVE_MS, undefined);
    });
    try {
      const addresses = await Promise.race([lookup(domain), late]);
      if (addresses === undefined) return "unknown";
      const all = addresses.length > 0 && addresses.every(({ address }) => addressKind(address) === "public");
      return all ? "safe" : "unsafe";
    } catch (error) {
      return missing.includes((error as { code?: unknown }).code) ? "unsafe" : "unknown";
    } finally {
      clearTimeout(timer);
    }
  };
}
