/** What a backup holds. */
export interface BackupReport {
  readonly v: 1;
  /** When it began: what was answered before is in it. */
  readonly at: string;
  /** The version that made it. */
  readonly maitred: string;
  readonly sessions: number;
  readonly files: number;
}

export interface BackupOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/** Copies of the storage directory, while a server may be using it, and back while none is. */
export interface Backups {
  /** @throws INVALID_REQUEST, TARGET_NOT_EMPTY, STORAGE_UNAVAILABLE, ABORTED */
  backUp(to: string, options: BackupOptions): Promise<BackupReport>;
  /** @throws INVALID_REQUEST, TARGET_NOT_EMPTY, STORAGE_IN_USE, STORAGE_UNAVAILABLE, ABORTED */
  restore(from: string, options: BackupOptions): Promise<BackupReport>;
}
