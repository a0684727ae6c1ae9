/** Targets that signatures are made for: what senders really call, and each rule of the canonical form once. */

/** Forty that the profile allows. */
export const urls: readonly string[] = [
  "https://buyer.example.com/",
  "https://buyer.example.com",
  "https://buyer.example.com/webhooks/op_1",
  "https://buyer.example.com/webhooks/op_1/",
  "https://Buyer.Example.COM/webhooks",
  "HTTPS://buyer.example.com/webhooks",
  "https://buyer.example.com:443/webhooks",
  "https://buyer.example.com:8443/webhooks",
  "https://buyer.example.com:80/webhooks",
  "http://buyer.example.com/webhooks",
  "http://buyer.example.com:80/webhooks",
  "http://127.0.0.1:8787/webhooks",
  "http://localhost:8787/webhooks",
  "https://buyer.example.com/a/./b",
  "https://buyer.example.com/a/../b",
  "https://buyer.example.com/a/b/../../c/",
  "https://buyer.example.com/../a",
  "https://buyer.example.com//a//b",
  "https://buyer.example.com/%7euser",
  "https://buyer.example.com/%2fa%2Fb",
  "https://buyer.example.com/%e2%98%83",
  "https://buyer.example.com/a%20b",
  "https://buyer.example.com/a+b;c=d,e",
  "https://buyer.example.com/a:b@c!$&'()*",
  "https://buyer.example.com/p?b=2&a=1",
  "https://buyer.example.com/p?a=&b",
  "https://buyer.example.com/p?x=a+b&y=%20",
  "https://buyer.example.com/p?x=%2F&y=/",
  "https://buyer.example.com/p?x=%7e",
  "https://buyer.example.com/p?u=https://other.example/q?r=1",
  "https://buyer.example.com/p?",
  "https://buyer.example.com/p#part",
  "https://buyer.example.com/p?a=1#part",
  "https://buyer.example.com?a=1",
  "https://[2001:db8::1]/p",
  "https://[2001:DB8::1]:443/p",
  "https://[2001:db8:0:0::1]:8443/p",
  "https://xn--bcher-kva.example/p",
  "https://a-very.long-label.of.several.labels.buyer.example.com/p",
  "https://buyer.example.com/webhooks/media/op_0d7a3c1e-2b57-4d3c-8a0e-6f2f6f0a9b77?tenant=a7f2&try=1",
];

export interface ForbiddenUrl {
  readonly url: string;
  readonly reason: string;
  /** A signer writes the host in its ASCII form; a verifier is never to be sent another. */
  readonly converted?: true;
}

/** What the profile forbids: nobody signs it, and a verifier that is sent it refuses. */
export const forbidden: readonly ForbiddenUrl[] = [
  { url: "/webhooks/op_1", reason: "a target is absolute" },
  { url: "ftp://buyer.example.com/p", reason: "a target is http or https" },
  { url: "https:///webhooks", reason: "an authority has a host" },
  { url: "https://buyer.example.com:99999/p", reason: "a port is at most 65535" },
  { url: "https://[2001:db8::1/p", reason: "an IPv6 address has both brackets" },
  { url: "https://2001:db8::1/p", reason: "an IPv6 address has brackets" },
  { url: "https://[fe80::1%25eth0]/p", reason: "an address has no zone" },
  { url: "https://buyer.example.com/a b", reason: "white space is written as %20" },
  { url: "https://buyer.example.com/%zz", reason: "a percent sign starts two hex digits" },
  { url: "https://buyer.example.com/\u2603", reason: "a path is ASCII, the rest is percent-encoded" },
  { url: "https://b\u00fccher.example/p", reason: "a host travels in its ASCII form", converted: true },
];
