import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { expect, test } from "vitest";
import { DataKey, NotAuthentic, newKeyBytes, newKeyId, SEAL_BYTES, sealedUnder } from "../../src/state/encryption/data-key.js";

const bytes = newKeyBytes();
const key = new DataKey(newKeyId(), bytes);

test("what is sealed opens in its place, under its key, and nowhere else", () => {
  for (const text of ["", "é", "a gluten allergy", "x".repeat(300_000)]) {
    const sealed = key.seal(text, "here");
    expect(sealedUnder(sealed)).toBe(key.id);
    expect(sealed.length).toBeLessThanOrEqual(Math.ceil((Buffer.byteLength(text) * 4) / 3) + SEAL_BYTES);
    expect(key.open(sealed, "here")).toBe(text);
    expect(() => key.open(sealed, "there")).toThrow(NotAuthentic);
    expect(() => new DataKey(key.id, newKeyBytes()).open(sealed, "here")).toThrow(NotAuthentic);
    expect(() => key.open(`${sealed.slice(0, 60)}AAAA${sealed.slice(64)}`, "here")).toThrow(NotAuthentic);
    expect(() => key.open(sealed.slice(0, 20), "here")).toThrow(NotAuthentic);
  }
  expect(sealedUnder('{"text":"~e1:"}')).toBeNull();
});

test("the same again is sealed otherwise, and another process with the key opens it", () => {
  const again = new Set(Array.from({ length: 100 }, () => key.seal("the same", "here")));
  expect(again.size).toBe(100);
  for (const sealed of again) expect(new DataKey(key.id, bytes).open(sealed, "here")).toBe("the same");
});

test("it is XChaCha20-Poly1305 as others have it", () => {
  const sealed = Buffer.from(key.seal("a gluten allergy", "here").slice(17), "base64");
  const cipher = xchacha20poly1305(bytes, sealed.subarray(0, 24), Buffer.from("here"));
  expect(Buffer.from(cipher.decrypt(sealed.subarray(24))).toString()).toBe("a gluten allergy");
});

test("words become numbers, as many, each another", () => {
  const words = key.hashedWords([7, 8, 4_294_967_295, 7]);
  expect(words).toEqual(new DataKey("x", bytes).hashedWords([7, 8, 4_294_967_295, 7]));
  expect(new Set(words).size).toBe(3);
  expect(words).not.toEqual(new DataKey(key.id, newKeyBytes()).hashedWords([7, 8, 4_294_967_295, 7]));
  expect(key.hashedWords([])).toEqual([]);
});

test("a word becomes a number, the same each time and another for each key", () => {
  expect(key.hashed("7")).toBe(new DataKey("x", bytes).hashed("7"));
  expect(key.hashed("7")).not.toBe(key.hashed("8"));
  expect(key.hashed("7")).not.toBe(new DataKey(key.id, newKeyBytes()).hashed("7"));
});
