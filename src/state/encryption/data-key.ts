import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { hchacha } from "@noble/ciphers/chacha.js";
import { LRUCache } from "lru-cache";

/** What a sealed value begins with: nothing else that is kept does. The key's id and a colon follow, and then base64. */
const SEALED = "~e1:";
const ID_CHARS = 12;
const BODY_AT = SEALED.length + ID_CHARS + 1;
const NONCE_BYTES = 24;
/** Bytes of a nonce that choose the subkey; the rest counts. */
const PREFIX_BYTES = 16;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const CIPHER = "chacha20-poly1305";
const TAGGED = { authTagLength: TAG_BYTES } as const;
/** The nonce under a subkey, as RFC 8439 has it: four zeros and the count. */
const SHORT_BYTES = 12;
const SHORT_ZEROS = 4;
/** Of AES. */
const BLOCK_BYTES = 16;
/** Subkeys held for reading, each of one process that wrote. */
const MOST_SUBKEYS = 64;
/** Of a sealed value: no other begins with the same key and nonce. */
const NAME_CHARS = BODY_AT + Math.ceil((NONCE_BYTES * 4) / 3);
/** Characters of sealed values and what they say, over all keys; and of one of them. */
const MOST_CHARACTERS = 16_000_000;
const MOST_OF_ONE = 32_768;
/** Bytes that a value takes beside a third more than it has. */
export const SEAL_BYTES = BODY_AT + Math.ceil(((NONCE_BYTES + TAG_BYTES) * 4) / 3) + 4;

/** A value that was sealed under another key, or in another place, or changed. */
export class NotAuthentic extends Error {
  override readonly name = "NotAuthentic";
}

interface ClearText {
  /** Of all that is held under the same key. */
  readonly names: Set<string>;
  readonly value: string;
  readonly context: string;
  readonly text: string;
}

/** What was sealed or opened last, in clear: a turn reads the same rows and memories a dozen times. */
const texts = new LRUCache<string, ClearText>({
  maxSize: MOST_CHARACTERS,
  maxEntrySize: MOST_OF_ONE,
  sizeCalculation: ({ value, context, text }) => value.length + context.length + text.length,
  dispose: ({ names }, name) => void names.delete(name),
});

/** The id of the key that a value is sealed under; null where it isn't sealed. */
export function sealedUnder(value: string): string | null {
  return value.startsWith(SEALED) ? value.slice(SEALED.length, BODY_AT - 1) : null;
}

export function newKeyBytes(): Uint8Array {
  return randomBytes(KEY_BYTES);
}

export function newKeyId(): string {
  return randomBytes(ID_CHARS / 2).toString("hex");
}

/**
 * A key of 256 bits. Seals by XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03): 16 random bytes of the nonce, chosen once a process, derive
 * a subkey by HChaCha20, and the last eight count, so that the subkey is derived once and the rest is done by OpenSSL.
 */
export class DataKey {
  readonly id: string;
  readonly #key: Uint8Array;
  readonly #prefix = randomBytes(PREFIX_BYTES);
  readonly #subkeys = new Map<string, KeyObject>();
  readonly #nonce = Buffer.alloc(SHORT_BYTES);
  #count = 0n;
  /** Of what it sealed and is held in clear. Null: nothing is to be. */
  #names: Set<string> | null = null;
  #words: ReturnType<typeof createCipheriv> | undefined;

  constructor(id: string, key: Uint8Array) {
    this.id = id;
    this.#key = key;
  }

  /** `context`: the place that it holds in; not part of the value. */
  seal(text: string, context: string): string {
    this.#nonce.writeBigUInt64BE(this.#count++, SHORT_ZEROS);
    const cipher = createCipheriv(CIPHER, this.#subkey(this.#prefix), this.#nonce, TAGGED);
    cipher.setAAD(Buffer.from(context), { plaintextLength: Buffer.byteLength(text) });
    const sealed = cipher.update(text, "utf8");
    cipher.final();
    const bytes = Buffer.concat([this.#prefix, this.#nonce.subarray(SHORT_ZEROS), sealed, cipher.getAuthTag()]);
    const value = `${SEALED}${this.id}:${bytes.toString("base64")}`;
    this.#hold(value, context, text);
    return value;
  }

  /** @throws NotAuthentic */
  open(value: string, context: string): string {
    const known = texts.get(value.slice(0, NAME_CHARS));
    if (known?.names === this.#names && known.value === value && known.context === context) return known.text;
    const text = this.#opened(value, context);
    this.#hold(value, context, text);
    return text;
  }

  /** What it seals and opens is held in clear from now on, until {@link forget}. Default: it is not. */
  remember(): void {
    this.#names ??= new Set();
  }

  /** Nothing that it sealed is held in clear, nor will be. */
  forget(): void {
    for (const name of this.#names ?? []) texts.delete(name);
    this.#names = null;
  }

  #hold(value: string, context: string, text: string): void {
    const names = this.#names;
    if (names === null) return;
    const name = value.slice(0, NAME_CHARS);
    texts.set(name, { names, value, context, text });
    // What is too long is not held.
    if (texts.has(name)) names.add(name);
  }

  #opened(value: string, context: string): string {
    const bytes = Buffer.from(value.slice(BODY_AT), "base64");
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new NotAuthentic();
    const nonce = Buffer.alloc(SHORT_BYTES);
    bytes.copy(nonce, SHORT_ZEROS, PREFIX_BYTES, NONCE_BYTES);
    const sealed = bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES);
    const subkey = this.#subkey(bytes.subarray(0, PREFIX_BYTES));
    const decipher = createDecipheriv(CIPHER, subkey, nonce, TAGGED);
    decipher.setAAD(Buffer.from(context), { plaintextLength: sealed.length });
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    try {
      const plain = decipher.update(sealed);
      decipher.final();
      return plain.toString("utf8");
    } catch (cause) {
      throw new NotAuthentic("what was read is not what was sealed here", { cause });
    }
  }

  /** Another number of 32 bits for each, which tells nothing of it without the key: a block of AES for each, which is one call for all. */
  hashedWords(words: readonly number[]): readonly number[] {
    const blocks = Buffer.alloc(words.length * BLOCK_BYTES);
    for (const [at, word] of words.entries()) blocks.writeUInt32BE(word, at * BLOCK_BYTES);
    this.#words ??= createCipheriv("aes-256-ecb", createHmac("sha256", this.#key).update("words").digest(), null);
    const hashed = this.#words.update(blocks);
    return words.map((_, at) => hashed.readUInt32BE(at * BLOCK_BYTES));
  }

  /** A number of 32 bits for each text, which tells nothing of it without the key. */
  hashed(text: string): number {
    return createHmac("sha256", this.#key).update(text).digest().readUInt32BE(0);
  }

  /** As an object: OpenSSL takes that a fifth faster than bytes. */
  #subkey(prefix: Buffer): KeyObject {
    const name = prefix.toString("latin1");
    const known = this.#subkeys.get(name);
    if (known !== undefined) return known;
    const bytes = Buffer.alloc(KEY_BYTES);
    const words = new Uint32Array(KEY_BYTES / 4);
    hchacha(SIGMA, littleEndian(this.#key), littleEndian(prefix), words);
    for (const [index, word] of words.entries()) bytes.writeUInt32LE(word, index * 4);
    const made = createSecretKey(bytes);
    if (this.#subkeys.size >= MOST_SUBKEYS) this.#subkeys.clear();
    this.#subkeys.set(name, made);
    return made;
  }
}

const SIGMA = littleEndian(Buffer.from("expand 32-byte k"));

function littleEndian(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, byteLength } = bytes;
  const view = new DataView(buffer, byteOffset, byteLength);
  return Uint32Array.from({ length: byteLength / 4 }, (_, index) => view.getUint32(index * 4, true));
}
