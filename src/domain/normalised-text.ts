import { createHash } from "node:crypto";
import type { Owner } from "./owner.js";

/** Lower case, no marks, one space for all that is neither letter nor digit. The same on every machine. Linear. */
export function normalised(text: string): string {
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
