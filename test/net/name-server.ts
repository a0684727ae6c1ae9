/** A name server on this machine, over UDP: it answers what a test says, or never. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export type RecordType = "A" | "AAAA";

/** Addresses; `absent` for a name that does not exist; `silent` for no answer. */
export type Answer = readonly string[] | "absent" | "silent";

const TYPES: Readonly<Record<number, RecordType>> = { 1: "A", 28: "AAAA" };
/** Bytes of a message before its question. */
const HEADER = 12;
const ABSENT = 3;

function questionOf(message: Buffer): { name: string; type: RecordType | undefined; end: number } {
  const labels: string[] = [];
  let at = HEADER;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), type: TYPES[message.readUInt16BE(at + 1)], end: at + 5 };
}

const bytesOf = (address: string): Buffer =>
  address.includes(":")
    ? Buffer.from(
        new URL(`http://[${address}]`).hostname
          .slice(1, -1)
          .replace("::", `:${"0:".repeat(9 - address.split(":").length)}`)
          .replace(/^:|:$/g, "")
          .split(":")
          .map((group) => group.padStart(4, "0"))
          .join(""),
        "hex",
      )
    : Buffer.from(address.split(".").map(Number));

function replyTo(message: Buffer, end: number, answer: Exclude<Answer, "silent">): Buffer {
  const addresses = answer === "absent" ? [] : answer;
  const header = Buffer.alloc(HEADER);
  message.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (answer === "absent" ? ABSENT : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) => {
    const data = bytesOf(address);
    const record = Buffer.alloc(12);
    // The name is the question's.
    record.writeUInt16BE(0xc000 | HEADER, 0);
    record.writeUInt16BE(data.length === 4 ? 1 : 28, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([header, message.subarray(HEADER, end), ...records]);
}

export interface NameServer {
  /** With its port. */
  readonly address: string;
  /** Names that were asked for, each question of it. */
  readonly asked: readonly string[];
  close(): void;
}

export async function startNameServer(answer: (name: string, type: RecordType) => Answer): Promise<NameServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (message, from) => {
    const { name, type, end } = questionOf(message);
    asked.push(name);
    const found = type === undefined ? [] : answer(name, type);
    if (found !== "silent") socket.send(replyTo(message, end, found), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { address: `127.0.0.1:${(socket.address() as AddressInfo).port}`, asked, close: () => socket.close() };
}
