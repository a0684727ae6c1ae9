/**
 * An id that is made of others, in the form of a UUID: who makes it again, of the same, has the same.
 * @param of what it is made of, each part told from the next by a space
 */
export async function derivedId(of: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(of));
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
