/** Disks that are full: small ones of memory, where the machine lets us mount them. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, openSqlite } from "../../runtime/db/index.js";
import { guard } from "../runner/guard.js";
import { runStatements, startPostgres } from "../support/postgres.js";
import { thrownBy } from "../support/thrown.js";

interface Disk {
  readonly folder: string;
  fill(): void;
  free(): void;
  unmount(): void;
}

/** @returns undefined where nothing may be mounted */
function smallDisk(megabytes: number): Disk | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-disk-"));
  const release = guard(folder);
  const end = (): void => {
    rmSync(folder, { recursive: true, force: true });
    release();
  };
  if (spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]).status !== 0) {
    end();
    return undefined;
  }
  const filling = path.join(folder, "filling");
  return {
    folder,
    fill: () => void spawnSync("dd", ["if=/dev/zero", `of=${filling}`, "bs=4096"]),
    free: () => rmSync(filling),
    unmount: () => {
      spawnSync("umount", ["--lazy", folder]);
      end();
    },
  };
}

/** A disk that could be mounted here, or the test is left out. */
const onDisk = (megabytes: number, name: string, work: (disk: Disk) => Promise<void>): void =>
  test(name, async () => {
    const disk = smallDisk(megabytes);
    if (disk === undefined) return;
    try {
      await work(disk);
    } finally {
      disk.unmount();
    }
  });

onDisk(4, "a SQLite file on a full disk says so as it is opened, a new one and one that is there", async (disk) => {
  const known = path.join(disk.folder, "known.db");
  await openSqlite({ path: known }).close();
  disk.fill();
  const made = await thrownBy(async () => openSqlite({ path: path.join(disk.folder, "new.db") }));
  assert.is(made.code, "database_unreachable");
  assert.match(made.message, /cannot be opened: the disk is full \(.*new\.db\): make room/);
  const opened = await thrownBy(async () => openSqlite({ path: known }));
  assert.is(opened.code, "database_unreachable");
  assert.match(opened.message, /no room for the file beside it .*known\.db\): make room/);
  disk.free();
  await openSqlite({ path: known }).close();
});

onDisk(64, "a tablespace that is full fails what is written, with place and remedy, and nothing else", async (disk) => {
  const postgres = await startPostgres({ fsync: "off" });
  try {
    const tables = path.join(disk.folder, "tables");
    spawnSync("install", ["-d", "-m", "700", ...(process.getuid?.() === 0 ? ["-o", "postgres"] : []), tables]);
    chmodSync(disk.folder, 0o755);
    await runStatements(postgres.url, `create tablespace small location '${tables}'`);
    const url = await postgres.database();
    await runStatements(postgres.url, `alter database ${new URL(url).pathname.slice(1)} set tablespace small`);
    const database = await openPostgres({ url, connections: 2 });
    await database.execute("create table large (bytes text)", []);
    disk.fill();
    const much = () =>
      database.execute("insert into large select repeat(md5(i::text), 200) from generate_series(1, 900) i", []);
    const { code, where, message, remedy } = await thrownBy(async () => {
      for (;;) await much();
    });
    assert.is(code, "database_failed");
    assert.match(where ?? "", "127.0.0.1");
    assert.match(message, /the database failed: its disk is full \(could not extend file/);
    assert.match(remedy ?? "", "make room");
    assert.equal(await database.execute("select 1 as one", []), [{ one: 1 }]);
    // A new connection writes a file that any change of the catalogue takes away.
    for (const name of readdirSync(tables, { recursive: true, encoding: "utf8" }))
      if (name.endsWith("pg_internal.init")) rmSync(path.join(tables, name));
    disk.fill();
    const refused = await thrownBy(() => openPostgres({ url, connections: 1 }));
    assert.is(refused.code, "database_unreachable");
    assert.match(refused.message, "the database cannot be opened: its disk is full");
    assert.match(refused.remedy ?? "", "make room");
    disk.free();
    await much();
    await database.close();
  } finally {
    await postgres.stop();
  }
});

test.run();
