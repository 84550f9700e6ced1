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
