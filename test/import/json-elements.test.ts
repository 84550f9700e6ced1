import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonElements } from "../../src/platform/json-elements.js";

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const size = sizes[i % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function elementsOf(text: string, sizes: readonly number[] = [7], maxBytes = 1_000_000): Promise<unknown[]> {
  const elements: unknown[] = [];
  for await (const element of jsonElements(cut(Buffer.from(text), sizes), maxBytes))
    elements.push(JSON.parse(Buffer.from(element).toString("utf8")));
  return elements;
}

describe("the elements of a JSON list", () => {
  const text = fc.string({ unit: fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", " ", "\n", "a", "é", "里", "🎷") });
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(null, true),
      tie("list"),
      tie("map"),
    ),
    list: fc.array(tie("any"), { maxLength: 4 }),
    map: fc.dictionary(text, tie("any"), { maxKeys: 4 }),
  })).list as fc.Arbitrary<unknown[]>;
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

  test("are what a parser finds, however the bytes come in and the list is laid out", async () => {
    await fc.assert(
      fc.asyncProperty(value, sizes, fc.constantFrom(undefined, 1, "\t"), fc.boolean(), async (list, chunks, indent, marked) => {
        const json = `${marked ? "\ufeff" : " "}${JSON.stringify(list, null, indent)}\n`;
        expect(await elementsOf(json, chunks)).toEqual(JSON.parse(JSON.stringify(list)));
      }),
      { numRuns: 500 },
    );
  });

  test("end before what is cut off: no part of a list passes for a whole one", async () => {
    await fc.assert(
      fc.asyncProperty(value, sizes, fc.nat(), async (list, chunks, where) => {
        const bytes = Buffer.from(JSON.stringify(list));
        const part = bytes.subarray(0, where % bytes.length);
        await expect(async () => {
          for await (const _ of jsonElements(cut(part, chunks), 1_000_000));
        }).rejects.toMatchObject({ code: "INVALID_IMPORT" });
      }),
    );
  });

  test.each(["", "  ", "{}", "3", "[1,]", "[,1]", "[1,,2]", "[1]]", "[1] 2", "[1][2]", '["]'])("are none of %j", async (text) => {
    await expect(elementsOf(text)).rejects.toMatchObject({ code: "INVALID_IMPORT" });
  });

  test("that are too large are refused while they come in, by their number", async () => {
    await expect(elementsOf(`[1,"${"x".repeat(2_000)}"`, [100], 1_024)).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      message: expect.stringContaining("Element 2"),
    });
  });
});
