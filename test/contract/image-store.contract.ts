import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/platform/ids.js";
import type { ImageStore } from "../../src/ports/image-store.js";
import { ALICE, BOB } from "../support/journal-records.js";

export interface ImageStoreUnderTest {
  readonly images: ImageStore;
  dispose(): Promise<void>;
}

/** The smallest thing that begins as a PNG does. */
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const ONE = "1a".repeat(32);
const TWO = "2b".repeat(32);

/** What every image store promises. */
export function imageStoreContract(name: string, make: () => Promise<ImageStoreUnderTest>): void {
  describe(`image store: ${name}`, () => {
    let made: ImageStoreUnderTest;
    let images: ImageStore;
    const session = newId();
    beforeEach(async () => {
      made = await make();
      images = made.images;
    });
    afterEach(() => made.dispose());

    const bytesOf = async (owner = ALICE, sessionId = session, id = ONE) => {
      const data = await images.get(owner, sessionId, id);
      return data === null ? null : Buffer.from(data).toString("hex");
    };

    test("an image comes back as it was, also when it was put twice, and what was handed in may be changed", async () => {
      const data = Buffer.from(PNG);
      await images.put(ALICE, session, ONE, data);
      await images.put(ALICE, session, ONE, data);
      data.fill(0);
      expect(await bytesOf()).toBe(PNG.toString("hex"));
      expect(await images.residue(ALICE)).toBe(1);
    });

    test("five MiB come back whole", async () => {
      const large = Buffer.alloc(5 * 1024 * 1024, 7);
      await images.put(ALICE, session, ONE, large);
      expect(Buffer.compare(Buffer.from((await images.get(ALICE, session, ONE)) ?? []), large)).toBe(0);
    });

    test("[owner-isolation] nobody finds one of somebody else's, or of another session", async () => {
      await images.put(ALICE, session, ONE, PNG);
      expect([await bytesOf(BOB), await bytesOf(ALICE, newId()), await bytesOf(ALICE, session, TWO)]).toEqual([null, null, null]);
      expect([await images.removeSession(BOB, session), await images.erase(BOB), await images.residue(BOB)]).toEqual([0, 0, 0]);
      expect(await bytesOf()).not.toBeNull();
    });

    /** Two of a session, and one of another, whose id is given. */
    const three = async () => {
      const other = newId();
      for (const [sessionId, id] of [
        [session, ONE],
        [session, TWO],
        [other, ONE],
      ] as const)
        await images.put(ALICE, sessionId, id, PNG);
      return other;
    };

    test("those of a session go together, and only they", async () => {
      const other = await three();
      expect(await images.removeSession(ALICE, session)).toBe(2);
      expect(await images.removeSession(ALICE, session)).toBe(0);
      expect([await bytesOf(), await bytesOf(ALICE, session, TWO)]).toEqual([null, null]);
      expect(await bytesOf(ALICE, other)).not.toBeNull();
      expect(await images.residue(ALICE)).toBe(1);
    });

    test("one goes by itself, of its session alone", async () => {
      const other = await three();
      await images.remove(BOB, session, ONE);
      for (let times = 0; times < 2; times += 1) await images.remove(ALICE, session, ONE);
      expect(await bytesOf()).toBeNull();
      expect([await bytesOf(ALICE, session, TWO), await bytesOf(ALICE, other)].includes(null)).toBe(false);
      expect(await images.residue(ALICE)).toBe(2);
    });

    test("an erased owner has none, and may begin anew; others keep theirs", async () => {
      await images.put(ALICE, session, ONE, PNG);
      await images.put(ALICE, newId(), TWO, PNG);
      await images.put(BOB, session, ONE, PNG);
      expect(await images.erase(ALICE)).toBe(2);
      expect([await images.residue(ALICE), await bytesOf(), await images.erase(ALICE)]).toEqual([0, null, 0]);
      await images.put(ALICE, session, ONE, PNG);
      expect(await images.residue(ALICE)).toBe(1);
      expect(await bytesOf(BOB)).not.toBeNull();
    });
  });
}
