/** What is kept of an owner outside of state, under their key. */
export interface OwnerSeals {
  /** For one who reads: makes no key where there is none. */
  of(owner: string): Promise<OwnerSeal>;
  /** For one who writes. */
  toWrite(owner: string): Promise<OwnerSeal & { readonly seal: (text: string, place: string) => string }>;
}

export interface OwnerSeal {
  /** Null where the key was destroyed, or this is not what was sealed at the place. @throws STORAGE_DAMAGED where there is no such key */
  open(sealed: string, place: string): string | null;
  /** Another number of 32 bits for each, which tells nothing of it without the key. Others for each owner. */
  hashedWords(words: readonly number[]): readonly number[];
  /** A number of 32 bits for each text, which tells nothing of it without the key. Another for each owner. */
  hashed(text: string): number;
}
