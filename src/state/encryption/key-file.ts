import { hash } from "node:crypto";
import { AppError } from "../../platform/errors.js";
import type { KeyVault } from "../../ports/key-vault.js";
import { DataKey } from "./data-key.js";

/** 32 bytes as base64, or as 64 hex digits. */
const HEX = /^[0-9a-fA-F]{64}$/;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/**
 * Master keys of a file, one a line: the first one wraps, the others still unwrap what they wrapped, until `maitred keys rotate` has been.
 * Lines that begin with `#` are left out. @throws INVALID_CONFIG
 */
export function keysOfFile(path: string, text: string): KeyVault {
  const keys = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => masterKey(path, line));
  const [first] = keys;
  if (first === undefined) throw wrongFile(path, "it holds no key");
  return {
    keyId: first.id,
    wrap: async (key, context) => first.seal(Buffer.from(key).toString("base64"), context),
    unwrap: async (wrapped, { keyId, context }) => {
      const key = keys.find(({ id }) => id === keyId);
      const ids = keys.map(({ id }) => id).join(", ");
      if (key === undefined)
        throw new AppError("INVALID_CONFIG", {
          detail: `ENCRYPTION_KEY_FILE: what is kept is encrypted under master key ${keyId}; ${path} holds ${ids}.`,
          hint: `Put master key ${keyId} into the file, behind the others if it was rotated. Nothing was changed.`,
        });
      try {
        return Buffer.from(key.open(wrapped, context), "base64");
      } catch (cause) {
        throw new AppError("INVALID_CONFIG", { detail: `The keyring is damaged: ${context}, wrapped by master key ${keyId}.`, cause });
      }
    },
  };
}

function masterKey(path: string, line: string): DataKey {
  if (!HEX.test(line) && !BASE64.test(line)) throw wrongFile(path, "a line of it is not 32 bytes in base64 or hex");
  const bytes = Buffer.from(line, HEX.test(line) ? "hex" : "base64url");
  return new DataKey(hash("sha256", Buffer.concat([Buffer.from("maitred master key "), bytes])).slice(0, 12), bytes);
}

function wrongFile(path: string, what: string): AppError {
  return new AppError("INVALID_CONFIG", {
    detail: `ENCRYPTION_KEY_FILE: ${path}: ${what}.`,
    hint: "Make one with `openssl rand -base64 32`, a key a line, and keep a copy elsewhere: without it nothing can be read.",
  });
}
