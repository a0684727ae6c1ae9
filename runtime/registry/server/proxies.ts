/** Which addresses are proxies of ours: what they say in `X-Forwarded-For` is believed, and nothing else is. */
import { BlockList, isIP } from "node:net";
import { AdbindError } from "../../errors.js";

/** `X-Forwarded-For` of a server on the same machine. */
const loopback = ["127.0.0.0/8", "::1/128"];

const bad = (where: string): AdbindError =>
  new AdbindError("registry_option_invalid", "a trusted proxy cannot be used", {
    where,
    remedy: "give addresses or networks, such as 10.0.0.0/8, or loopback",
  });

/**
 * @param proxies addresses, networks (`10.0.0.0/8`), or `loopback`
 * @returns whether an address is one of them
 * @throws AdbindError `registry_option_invalid`
 */
export function trustedProxies(proxies: readonly string[]): (address: string) => boolean {
  const known = new BlockList();
  for (const given of proxies.flatMap((one) => (one === "loopback" ? loopback : [one]))) {
    const [address = "", prefix, ...rest] = given.split("/");
    const family = isIP(address);
    const longest = family === 4 ? 32 : 128;
    if (family === 0 || rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) throw bad(given);
    const bits = prefix === undefined ? longest : Number(prefix);
    // A network that holds everybody makes everybody's word count.
    if (bits > longest || bits === 0) throw bad(given);
    known.addSubnet(address, bits, family === 4 ? "ipv4" : "ipv6");
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
    const family = isIP(plain);
    return family !== 0 && known.check(plain, family === 4 ? "ipv4" : "ipv6");
  };
}
