/**
 * What wraps and unwraps data keys: a master key in a file, or a service that never gives its key away. Asked once for each owner that a
 * process comes to know, and when keys are made or rotated.
 */
export interface KeyVault {
  /** Names the master key that wraps now, and tells nothing of it. Another key has another name. */
  readonly keyId: string;
  /** `context`: what the key is of; authenticated, so that a wrapped key holds in its own place alone. @throws STORAGE_UNAVAILABLE */
  wrap(key: Uint8Array, context: string): Promise<string>;
  /**
   * `keyId`: what wrapped it then.
   * @throws INVALID_CONFIG where it has no such key, or the key is not what was wrapped; STORAGE_UNAVAILABLE
   */
  unwrap(wrapped: string, options: { readonly keyId: string; readonly context: string }): Promise<Uint8Array>;
}

/** What is kept of an owner outside of state, under their key. */
export interface OwnerSeals {
  /** For one who reads: makes no key where there is none. `sealed`: what is to be opened, maybe under a key that another process made. */
  of(owner: string, sealed?: string): Promise<OwnerSeal>;
  /** For one who writes. */
  toWrite(owner: string): Promise<WritersSeal>;
}

export interface WritersSeal extends OwnerSeal {
  readonly seal: (text: string, place: string) => string;
  /** Asked behind a write: whether another key seals by now, so that what was sealed is to be sealed anew. Not behind an erasure. */
  isRenewed(): Promise<boolean>;
}

export interface OwnerSeal {
  /** Whether its key is known here, or known to be destroyed. */
  knows(sealed: string): boolean;
  /** Null where the key was destroyed, or this is not what was sealed at the place. @throws STORAGE_DAMAGED where there is no such key */
  open(sealed: string, place: string): string | null;
  /** Another number of 32 bits for each, which tells nothing of it without the key. Others for each owner. */
  hashedWords(words: readonly number[]): readonly number[];
  /** A number of 32 bits for each text, which tells nothing of it without the key. Another for each owner. */
  hashed(text: string): number;
}

/** Of an owner whose key is being renewed: opens what is sealed by one that is to go, and seals by the one that stays. */
export interface RenewedSeal {
  /** Whether it is sealed by a key that is to go. */
  isBefore(sealed: string): boolean;
  /** Null where the key was destroyed. */
  open(sealed: string, place: string): Promise<string | null>;
  seal(text: string, place: string): string;
}
