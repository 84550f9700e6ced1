import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SizeBesideImages } from "../../src/http/body.js";

const LIMIT = 1_000;
const image = "A".repeat(20_000);

/** The body in chunks of this many bytes. */
function fits(body: string, chunkBytes: number): boolean {
  const size = new SizeBesideImages(LIMIT);
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.byteLength; at += chunkBytes) if (!size.fits(bytes.subarray(at, at + chunkBytes))) return false;
  return true;
}

describe("the size of a body beside its images [limits-hold]", () => {
  const bodies: readonly (readonly [string, string, boolean])[] = [
    ["an image", JSON.stringify({ message: "a", images: [{ data: image }] }), true],
    ["an image in a data URL, behind white space", `{ "images" : [ { "url" :\n "data:image/png;base64,${image}" } ] }`, true],
    ["quotation marks and backslashes before it", JSON.stringify({ message: 'a" \\ \\" \\\\', images: [{ data: image }] }), true],
    ["slashes that are escaped in it", `{"images":[{"data":"${image.replaceAll("AAAA", "A\\/AA")}"}]}`, true],
    ["a long text of another key", JSON.stringify({ message: image }), false],
    ["a long key", JSON.stringify({ [image]: 1 }), false],
    ["a key that begins as an image's does", JSON.stringify({ database: image }), false],
    ["quotation marks under an image's key", JSON.stringify({ data: '"'.repeat(20_000) }), false],
    ["many short texts under an image's key", JSON.stringify(Array(500).fill({ data: "A" })), false],
    ["brackets", "[".repeat(2_000), false],
    ["white space", " ".repeat(2_000), false],
    ["one text without an end", `"${image}`, false],
  ];

  test.each(bodies)("%s, however it is cut into chunks", (_name, body, expected) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30_000 }), (chunkBytes) => {
        expect(fits(body, chunkBytes)).toBe(expected);
      }),
      { examples: [[1], [2], [3], [65_536]], numRuns: 20 },
    );
  });
});
