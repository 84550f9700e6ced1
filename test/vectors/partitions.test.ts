import { expect, test } from "vitest";
import { LocalTables } from "../../src/stores/local-vectors/local-tables.js";
import { Partitions } from "../../src/stores/local-vectors/partitions.js";

const MAX_BYTES = 200_000;

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
