import { expect, test } from "vitest";
import { LocalTables } from "../../src/vectors/local/local-tables.js";
import { Partitions } from "../../src/vectors/local/partition.js";

const MAX_BYTES = 300_000;

test("what a read makes pushes the others out as well", () => {
  const tables = LocalTables.open(":memory:");
  const partitions = new Partitions(tables, MAX_BYTES);
  const sessions = (n: number) => ({ session_id: `session-${n}` });
  for (const name of ["first", "second"]) {
    partitions.of(1, 8, name);
    const points = Array.from({ length: 150 }, (_, n) => ({
      key: `${n}`,
      payload: sessions(n),
      payloadChars: 20,
      dense: null,
      sparse: new Map(),
    }));
    partitions.follow(
      1,
      points.map((point) => ({ type: "put", tenant: name, point })),
    );
  }
  expect(partitions.of(1, 8, "first").size).toBe(150);
  partitions.of(1, 8, "second").pointsWith("session_id", new Set(["session-1"]));
  partitions.of(1, 8, "second");
  expect(partitions.bytes).toBeLessThanOrEqual(MAX_BYTES);
  expect(partitions.of(1, 8, "first").size).toBe(0);
  tables.close();
});

test("tenants that grow while they are in memory push the others out at the bound", () => {
  const tables = LocalTables.open(":memory:");
  const partitions = new Partitions(tables, MAX_BYTES);
  for (let tenant = 0; tenant < 20; tenant++) {
    const name = `tenant-${tenant}`;
    partitions.of(1, 8, name);
    for (let n = 0; n < 50; n++) {
      const point = { key: `${n}`, payload: {}, payloadChars: 200, dense: new Float32Array(8).fill(1), sparse: new Map() };
      partitions.follow(1, [{ type: "put", tenant: name, point }]);
    }
  }
  expect(partitions.bytes).toBeGreaterThan(MAX_BYTES / 2);
  expect(partitions.bytes).toBeLessThanOrEqual(MAX_BYTES);
  tables.close();
});
