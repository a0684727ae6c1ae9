/** The short forms of `./run faults NAME`: some of them a run, each on one of its engines. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cellsOf } from "../support/cells.js";
import { judged } from "../support/judged.js";
import { proves } from "../support/turns.js";
import { type Example, examples, isInstalled, runOutbox } from "./outbox-run.js";

/** Names of one commit's run: each takes half a minute. */
const NAMES = proves("many kill runs") ? 3 : 1;

const engines = ["sqlite", "postgres"];

/** @returns what the command has printed */
const killed = (name: string, kills: number, more: readonly string[], given = kills): Promise<string> =>
  judged([`test/faults/${name}.ts`, "--kills", `${given}`, ...more], { unit: "kills", passed: kills });

const partsOf = (...parts: readonly string[]): string[] =>
  parts.flatMap((part) => engines.map((engine) => `${part} ${engine}`));

interface ShortForm {
  readonly about: string;
  readonly cells: readonly string[];
  /** How many of them. */
  readonly take?: number;
  readonly run: (cell: string) => Promise<void>;
}

const forms: Readonly<Record<string, ShortForm>> = {
  sender: {
    about: "processes that deliver are killed, and every event still has exactly one fate",
    cells: engines,
    async run(engine) {
      const said = await killed("sender", 6, ["--engine", engine]);
      const [, delivered, dead] = /delivered (\d+), dead (\d+)/.exec(said)!;
      assert.ok(Number(delivered) > 0 && Number(dead) > 0, said);
    },
  },
  receiver: {
    about: "receivers are killed, and nothing is lost or applied twice",
    // One process on one database, or on three with a fourth that is added meanwhile.
    cells: [...engines, ...engines.map((engine) => `${engine} in three`)],
    async run(cell) {
      const [engine, , three] = cell.split(" ");
      await killed("receiver", 6, [...(three === undefined ? [] : ["--split", "3"]), "--engine", engine!]);
    },
  },
  buyer: {
    about: "buyers are killed, and nothing is ordered twice or forgotten, and each end is told once",
    cells: engines,
    async run(engine) {
      const said = await killed("buyer", 4, ["--engine", engine]);
      const [, orders, tasks] = /orders (\d+), tasks (\d+)/.exec(said)!;
      assert.ok(Number(orders) >= 4 && Number(tasks) > 0, said);
    },
  },
  seller: {
    about: "sellers are killed, and nothing is bought twice and no answer lost",
    cells: partsOf("handlers", "library"),
    async run(cell) {
      const [part = "", engine = ""] = cell.split(" ");
      const said = await killed("seller", 3, ["--part", part, "--engine", engine]);
      const least = part === "library" ? 2 : 10;
      assert.ok(Number(/(?:answered|booked) (\d+)/.exec(said)?.[1]) > least, said);
    },
  },
  registry: {
    about: "registries are killed, and end where they would have",
    cells: partsOf("crawl", "import"),
    async run(cell) {
      const [part = "", engine = ""] = cell.split(" ");
      // An import makes a tenth of the kills it is given.
      const [kills, given] = part === "import" ? [2, 20] : [4, 4];
      const said = await killed("registry", kills, ["--engine", engine, "--part", part], given);
      assert.ok(Number(/told (\d+)/.exec(said)?.[1]) > 10, said);
    },
  },
  outbox: {
    about: "applications are killed between their own write and the webhook's: both are there, or neither",
    cells: Object.keys(examples),
    take: 2,
    async run(cell) {
      const example = cell as Example;
      if (!isInstalled(example)) {
        console.log(`# skipped: what ${example} needs is not installed; ./run test installs it`);
        return;
      }
      const { faults, between, both, neither } = await runOutbox(example, 3);
      assert.equal(faults, [], example);
      assert.ok(between > 0 && both + neither >= 3, `${example}: ${between} between, ${both} both, ${neither} neither`);
    },
  },
};

for (const name of cellsOf("./run faults", Object.keys(forms), NAMES)) {
  const { about, cells, take = 1, run } = forms[name]!;
  for (const cell of cellsOf(`./run faults ${name}`, cells, take)) test(`${cell}: ${about}`, () => run(cell));
}

test.run();
