/** One suite of requests for every framework: each answers all of them alike, over a real socket. */
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { faultNames, signTestWebhook, type TestReceiver, testEvent, testFaults } from "../../runtime/testing/index.js";

export const SENDER = "https://seller.example/agent";
export const PUBLIC_URL = "https://hooks.buyer.example";

/** What a sender sees of an answer. */
export interface Seen {
  readonly status: number;
  readonly body: string;
  readonly type: string | undefined;
  readonly challenge: string | undefined;
}

interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const post = (port: number, { method, target, headers, body }: Sent, chunkBytes = 0): Promise<Seen> =>
  new Promise((resolve, reject) => {
    const length = chunkBytes > 0 ? {} : { "content-length": String(body.length) };
    const options = { host: "127.0.0.1", port, method, path: target, headers: { ...headers, ...length } };
    const sent = httpRequest(options, (answer) => {
      let text = "";
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => {
        const { "content-type": type, "www-authenticate": challenge } = answer.headers;
        resolve({ status: answer.statusCode!, body: text, type: type?.split(";")[0], challenge });
      });
    });
    sent.on("error", reject);
    if (chunkBytes > 0)
      for (let at = 0; at < body.length; at += chunkBytes) sent.write(body.subarray(at, at + chunkBytes));
    else sent.write(body);
    sent.end();
  });

/** A request whose header fields are written as they stand, doubled ones too. */
const postLines = (port: number, { target, body }: Sent, lines: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const head = [
      `POST ${target} HTTP/1.1`,
      "host: x",
      ...lines,
      `content-length: ${body.length}`,
      "connection: close",
    ];
    socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]));
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("close", () =>
      resolve(
        text
          .split("\r\n")[0]!
          .replace(/ [A-Z].*$/i, "")
          .concat(` ${/\{.*\}/.exec(text)?.[0]}`),
      ),
    );
  });

/** Answers of one framework, by what was asked. */
export async function answersOf(
  port: number,
  { receiver, key, clock }: TestReceiver,
): Promise<Record<string, unknown>> {
  const now = () => clock.ms;
  const event = (task_id: string, over = {}) => testEvent({ task_id, ...over }, now);
  const signed = (body: Parameters<typeof signTestWebhook>[0]["event"], route = "/webhooks/a") =>
    signTestWebhook({ url: PUBLIC_URL + route, event: body, key, now });
  const answers: Record<string, unknown> = {};
  const spaced = Buffer.from(JSON.stringify(event("spaced", { message: "é \u{1F600}" }), null, 3));
  answers.whole = await post(port, signed(spaced));
  const chunked = Buffer.from(JSON.stringify(event("chunked", { message: "é" }), null, 3));
  answers["in chunks of seven bytes"] = await post(port, signed(chunked), 7);
  const twice = event("twice");
  answers.first = await post(port, signed(twice));
  answers["the same event again"] = await post(port, signed(twice));
  answers["a query of its own"] = await post(port, signed(event("query"), "/webhooks/a?b=%7e&c"));
  answers["a path that is not decoded"] = await post(port, signed(event("path"), "/webhooks/%7Eb"));
  answers["no such route"] = await post(port, signed(event("none"), "/webhooks/none"));
  answers["an empty body"] = await post(port, { ...signed(event("empty")), body: new Uint8Array() });
  const large = Buffer.from(`{"padding":"${"x".repeat(3_000_000)}"}`);
  answers["three megabytes, read"] = await post(port, signed(large));
  answers["three megabytes in chunks, read"] = await post(port, signed(large), 65_536);
  const doubled = signed(event("doubled"));
  const lines = Object.entries(doubled.headers).map(([name, value]) => `${name}: ${value}`);
  const again = (name: string) => [...lines, `${name}: ${doubled.headers[name]}`];
  answers["its signature twice"] = await postLines(port, doubled, again("Signature"));
  answers["its media type twice"] = await postLines(port, doubled, again("Content-Type"));
  for (const name of faultNames) {
    const context = { url: `${PUBLIC_URL}/webhooks/a`, key, now, event: event(name) };
    for (const [at, request] of testFaults[name].make(context).entries())
      answers[`${name} ${at + 1}`] = await post(port, request);
  }
  const order = Buffer.from('{"a":[1,2]}');
  const json = { "content-type": "application/json" };
  answers["another route of the app"] = await post(port, {
    method: "POST",
    target: "/orders",
    headers: json,
    body: order,
  });
  await receiver.idle();
  return answers;
}
