/** The floor of a server's latency: node's own, that answers every request with as many bytes as its `bytes` says. Prints its port. */
import { createServer } from "node:http";

const http = createServer((request, response) => {
  const bytes = Number(new URL(request.url!, "http://localhost").searchParams.get("bytes"));
  request.resume().on("end", () => {
    response
      .writeHead(200, { "content-type": "application/json", "content-length": bytes })
      .end(Buffer.alloc(bytes, 32));
  });
});
http.listen(0, "127.0.0.1", () => process.stdout.write(`${(http.address() as { port: number }).port}\n`));
