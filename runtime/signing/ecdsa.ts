/** The two spellings of an ECDSA signature over P-256: r||s, which HTTP signatures have (RFC 9421 section 3.3.4), and DER. */

/** Bytes of each of the two numbers. */
const HALF_BYTES = 32;
const SEQUENCE = 0x30;
const INTEGER = 0x02;

/**
 * DER of r||s.
 * @returns undefined for a text of another length, which is no signature
 */
export function derOf(fixed: Uint8Array): Uint8Array | undefined {
  if (fixed.length !== 2 * HALF_BYTES) return undefined;
  const der = [SEQUENCE, 0];
  for (const half of [0, HALF_BYTES]) {
    let from = half;
    while (from < half + HALF_BYTES - 1 && fixed[from] === 0) from++;
    // A number whose first bit is set would be negative.
    const sign = fixed[from]! > 0x7f ? 1 : 0;
    der.push(INTEGER, half + HALF_BYTES - from + sign);
    if (sign === 1) der.push(0);
    for (let at = from; at < half + HALF_BYTES; at++) der.push(fixed[at]!);
  }
  der[1] = der.length - 2;
  return Uint8Array.from(der);
}

/** r||s of DER as the platform makes it. */
export function fixedOf(der: Uint8Array): Buffer {
  const fixed = Buffer.alloc(2 * HALF_BYTES);
  // After the sequence's two bytes stand two integers, each after its own two; a number may have one zero too many in front.
  let at = 2;
  for (const end of [HALF_BYTES, 2 * HALF_BYTES]) {
    const length = der[at + 1]!;
    const number = der.subarray(at + 2, at + 2 + length);
    const bytes = number.length > HALF_BYTES ? number.subarray(number.length - HALF_BYTES) : number;
    fixed.set(bytes, end - bytes.length);
    at += 2 + length;
  }
  return fixed;
}
