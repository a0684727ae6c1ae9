/** How a port tells somebody over HTTP, where nothing more is to be said about it. */

/** How long the other side may take, in milliseconds, where a call says nothing else. */
const PATIENCE_MS = 10_000;

/**
 * POSTs JSON; the key goes along as `idempotency-key`. Without an address nobody is told, and nothing has to be.
 * @param path below the address, such as `/orders`
 * @throws Error for any answer but a success, and for none in time: whoever is asked again has the same key
 */
export async function tellPlatform(
  address: string | undefined,
  path: string,
  body: object,
  { idempotencyKey, signal }: { readonly idempotencyKey?: string; readonly signal?: AbortSignal } = {},
): Promise<void> {
  if (address === undefined) return;
  const answer = await fetch(`${address}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    },
    body: JSON.stringify(body),
    signal: signal ?? AbortSignal.timeout(PATIENCE_MS),
  });
  // What it says beside is nobody's: a connection that is not read to its end is not used again.
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`);
}
