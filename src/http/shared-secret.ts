import { createHash, timingSafeEqual } from "node:crypto";

/** Tells who holds a secret that a variable names. */
export interface SharedSecret {
  /** Whether it is set. */
  readonly isSet: boolean;
  /** By an `Authorization: Bearer …`; the time tells nothing. False where it is not set. */
  heldBy(authorization: string | undefined): boolean;
}

export function sharedSecret(secret: string | undefined): SharedSecret {
  const expected = secret === undefined ? null : digest(secret);
  return {
    isSet: expected !== null,
    heldBy: (authorization) => {
      const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
      return expected !== null && given !== undefined && timingSafeEqual(digest(given), expected);
    },
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
