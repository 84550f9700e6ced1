import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import openWabt from "wabt";
import { CODE, FewDenseRows, ManyDenseRows, ROWS_AT_ONCE } from "../../src/vectors/local/dense-rows.js";

const SOURCE = new URL("../../src/vectors/local/dot-products.wat", import.meta.url);

test("the code is what its source says", async () => {
  const wabt = await openWabt();
  const { buffer } = wabt.parseWat("dot-products.wat", await readFile(SOURCE, "utf8"), { simd: true }).toBinary({});
  expect(Buffer.from(buffer).toString("base64")).toBe(CODE);
});

const number = fc.float({ min: -1, max: 1, noNaN: true });
const vectorOf = (dimension: number) =>
  fc.array(number, { minLength: dimension, maxLength: dimension }).map((numbers) => Float32Array.from(numbers));
const writesOf = (dimension: number) =>
  fc.array(fc.tuple(fc.nat(400), fc.constantFrom("set", "none", "clear"), vectorOf(dimension)), { maxLength: 120 });

describe.each([1, 7, 8, 20, 131])("vectors of %i numbers", (dimension) => {
  test("many rows have the dot products of few, whatever was set, left out and cleared before and after", () => {
    fc.assert(
      fc.property(writesOf(dimension), writesOf(dimension), vectorOf(dimension), (before, after, query) => {
        const few = new FewDenseRows(dimension);
        const taken = new FewDenseRows(dimension);
        for (const rows of [few, taken]) write(rows, before);
        const many = new ManyDenseRows(dimension, taken, 1);
        for (const rows of [few, many]) write(rows, [...after, [401, "set", query]]);
        const expected = [...few.dots(query, 0, 401).slice(0, 401)];
        const seen = [...many.dots(query, 0, 401).slice(0, 401)];
        const apart = seen.map((product, row) => Math.abs(product - (expected[row] ?? 0)));
        expect(apart.filter((difference) => difference > 1e-4)).toEqual([]);
        expect(seen.map(Number.isNaN)).toEqual(expected.map(Number.isNaN));
        expect([...many.dots(query, 17, 1).slice(0, 1)]).toEqual(seen.slice(17, 18));
      }),
      { numRuns: 60 },
    );
  });
});

test("rows beyond those that are asked about at once are asked about by themselves", () => {
  const many = new ManyDenseRows(2, new FewDenseRows(2), 1);
  for (let row = 0; row < 3 * ROWS_AT_ONCE; row++) many.set(row, Float32Array.of(row, 1));
  expect([...many.dots(Float32Array.of(1, 0.5), 2 * ROWS_AT_ONCE, 3).slice(0, 3)]).toEqual([2048.5, 2049.5, 2050.5]);
});

function write(rows: FewDenseRows | ManyDenseRows, writes: readonly (readonly [number, string, Float32Array])[]): void {
  for (const [row, kind, vector] of writes)
    if (kind === "clear") rows.clear(row);
    else rows.set(row, kind === "set" ? vector : null);
}
