/**
 * Which addresses are public. The first block is docs/protocol/signing.md#outbound-requests, 2; the rest is hardening from
 * IANA's registries.
 */
import { BlockList, isIP } from "node:net";

type Range = readonly [network: string, prefix: number];

const reservedV4: readonly Range[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // carrier NAT; one cloud's metadata service too
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // link-local; most clouds' metadata services
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["224.0.0.0", 4],
  ["255.255.255.255", 32],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24], // 6to4 relay anycast
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["240.0.0.0", 4],
  ["168.63.129.16", 32], // a cloud's host agent, on a public address
];

/** Global unicast is 2000::/3; what lies outside needs no list. These are the parts inside it that are not hosts. */
const reservedV6: readonly Range[] = [
  ["2001::", 23], // Teredo, ORCHID, benchmarking
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4 wraps any IPv4 address
  ["3fff::", 20],
];

const listOf = (ranges: readonly Range[], family: "ipv4" | "ipv6"): BlockList => {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family);
  return list;
};

const v4 = listOf(reservedV4, "ipv4");
const v6 = listOf(reservedV6, "ipv6");
const globalV6 = listOf([["2000::", 3]], "ipv6");
const loopbackV4 = listOf([["127.0.0.0", 8]], "ipv4");

/** What an address belongs to: the public internet, this machine, or neither. */
export type AddressKind = "public" | "loopback" | "reserved";

/**
 * What an address is for. IPv6 forms that wrap an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) are reserved
 * whatever they wrap: an honest name has the plain address beside them.
 * @param address IP address text; anything else, and any zone id, is reserved
 */
export function addressKind(address: string): AddressKind {
  switch (isIP(address)) {
    case 4:
      if (loopbackV4.check(address, "ipv4")) return "loopback";
      return v4.check(address, "ipv4") ? "reserved" : "public";
    case 6:
      if (address === "::1") return "loopback";
      if (address.includes("%") || !globalV6.check(address, "ipv6")) return "reserved";
      return v6.check(address, "ipv6") ? "reserved" : "public";
    default:
      return "reserved";
  }
}
