import { createHash } from "node:crypto";
import type { Owner } from "./owner.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\x00-\x7f]*$/;

/** Lower case, no marks, one space for all that is neither letter nor digit. The same on every machine. Linear. */
export function normalised(text: string): string {
  // Has no marks and nothing to fold.
  if (ASCII.test(text))
    return text
      .toLowerCase()
      .replaceAll("'", "")
      .replace(/[^a-z0-9]+/g, " ")
      .trim();
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/['’]/gu, "")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** SHA-256 of owner and normalised text: what a tombstone keeps of a text. */
export function textHash(owner: Owner, text: string): string {
  return createHash("sha256")
    .update(`${owner}\n${normalised(text)}`)
    .digest("hex");
}
