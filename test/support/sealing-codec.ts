import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import type { ContentCodec } from "../../src/ports/content-codec.js";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SECRET = "a secret of the tests";

/** AES-256-GCM under a key of the owner's own. */
export const sealingCodec: ContentCodec = {
  async of(owner) {
    const key = createHmac("sha256", SECRET).update(owner).digest();
    return {
      encode(content) {
        const nonce = randomBytes(NONCE_BYTES);
        const cipher = createCipheriv("aes-256-gcm", key, nonce);
        return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
      },
      decode(kept) {
        const decipher = createDecipheriv("aes-256-gcm", key, kept.subarray(0, NONCE_BYTES));
        decipher.setAuthTag(kept.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(kept.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      },
    };
  },
};
