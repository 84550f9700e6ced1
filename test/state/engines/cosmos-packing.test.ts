import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type InlineEntries, NO_ENTRIES, placeWithin } from "../../../src/state/engines/cosmos/inline-entries.js";
import { headWrite } from "../../../src/state/engines/cosmos/stored-item.js";
import type { Changes } from "../../../src/state/optimistic-heads.js";
import { EMPTY_HEAD } from "../../../src/state/partition-head.js";

const HEAD_BYTES = 15_360;
const WORDS = "a quiet room with a view of the lake and breakfast at eight for two guests who like jazz walks museums".split(" ");

/** As what is encrypted. */
function sealed(seed: string, length: number): string {
  const parts = Array.from({ length: Math.ceil(length / 86) }, (_, part) =>
    createHash("sha512").update(`${seed} ${part}`).digest("base64url"),
  );
  return parts.join("").slice(0, length);
}

function prose(seed: string, length: number): string {
  const bytes = createHash("shake256", { outputLength: length }).update(seed).digest();
  return [...bytes]
    .map((byte) => WORDS[byte % WORDS.length])
    .join(" ")
    .slice(0, length);
}

function mixed(seed: string, length: number): string {
  return (seed.endsWith("3") ? sealed : prose)(seed, length);
}

test.each([
  ["sealed values", sealed],
  ["prose", prose],
  ["both", mixed],
])("however full a head is, a commit packs it a few times at most: %s", (_, text) => {
  let inline: InlineEntries = NO_ENTRIES;
  const versions = new Map<string, number>();
  const packings: number[] = [];
  const kept: number[] = [];
  for (let version = 1; version <= 120; version++) {
    let packed = 0;
    const headBytes = (entries: InlineEntries) => {
      packed += 1;
      return Buffer.byteLength(JSON.stringify(headWrite("o:a", EMPTY_HEAD, entries, "tag")));
    };
    // Beside what is said once, rows that are written anew by every commit.
    const changes: Changes = {
      puts: [
        { key: `said/${String(version).padStart(4, "0")}`, value: text(`said ${version}`, 900 + 13 * version) },
        { key: "row/state", value: text(`row ${version}`, 1_500) },
        { key: `count/${version % 7}`, value: text(`count ${version}`, 120) },
      ],
    };
    const versionOf = (key: string) => versions.get(key) ?? null;
    const placement = placeWithin(HEAD_BYTES, inline, changes, { version, maxOperations: 99, headBytes, versionOf });
    packings.push(packed);
    ({ inline } = placement);
    for (const { key } of changes.puts ?? []) versions.set(key, version);
    expect(headBytes(inline)).toBeLessThanOrEqual(HEAD_BYTES);
    kept.push(headBytes(inline));
  }
  expect(Math.max(...packings)).toBeLessThanOrEqual(8);
  // What is there when it is full fills it.
  expect(Math.min(...kept.slice(60))).toBeGreaterThan(HEAD_BYTES / 2);
});
