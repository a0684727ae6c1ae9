/** A market's folder and ports are those of one run at a time. */
import { createServer } from "node:net";
import { AdbindError } from "../../runtime/errors.js";
import { unusableAddress } from "../listening.js";

const HOST = "127.0.0.1";

/**
 * Listens at a port for as long as this process lives, before anything is removed or started: whoever begins beside it would take its
 * folder away. However it ends, the port is free again.
 * @throws AdbindError `address_unusable`
 */
export async function keepAlone(port: number, remedy: string): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const what = unusableAddress({ host: HOST, port }, cause);
      reject(what === undefined ? cause : new AdbindError(what.code, `${HOST}:${port} is taken`, { remedy, cause }));
    });
    server.listen(port, HOST, resolve);
  });
  server.unref();
}
